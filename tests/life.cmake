# Life: rules and logic, engines against plain C on one device and on two, known lives, files, command.
stdcl_test(test_life_engines test_life_engines.c LIBS stdcl_life TIMEOUT 240)
stdcl_test(test_life_engines_on_two PROGRAM two_devices ARGS $<TARGET_FILE:test_life_engines> TIMEOUT 240)
