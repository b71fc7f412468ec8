# Life: rules and logic, known lives, engines against plain C on one device and on two, files.
stdcl_test(test_life_rule test_life_rule.c LIBS stdcl_life)
stdcl_test(test_life_formats test_life_formats.c LIBS formats)
stdcl_test(test_life_known test_life_known.c LIBS stdcl_life formats TIMEOUT 120)
stdcl_test(test_life_engines test_life_engines.c LIBS stdcl_life TIMEOUT 240)
stdcl_test(test_life_engines_on_two PROGRAM two_devices ARGS $<TARGET_FILE:test_life_engines> TIMEOUT 240)
stdcl_test(test_life_golly test_life_golly.c LIBS stdcl_life formats)
