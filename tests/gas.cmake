# The gas: sums of arrays, velocities and their statistics; on the devices there are and on two.
stdcl_test(test_gas_sums test_gas_sums.c LIBS stdcl_gas)
stdcl_test_on_two(test_gas_sums)
stdcl_test(test_gas test_gas.c LIBS stdcl_gas)
stdcl_test_on_two(test_gas)
