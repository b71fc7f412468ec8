# Matrix products: .npy files, engines against the reference on one device and on two, the command.
stdcl_test(test_npy test_npy.c LIBS formats)
