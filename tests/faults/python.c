/* python.c - run python.py, for faults.c. Python's own allocations do not fail: the shim counts
 * those of this program only, which makes none.
 * SPDX-License-Identifier: MIT
 */
#include <stdlib.h>
#include <unistd.h>

int main(void)
{
    setenv("PYTHONPATH", FAULTS_SOURCE "/python", 1);
    setenv("PYTHONDONTWRITEBYTECODE", "1", 1);
    setenv("OPENBLAS_NUM_THREADS", "1", 1);
    setenv("STDCL_LIBRARY", FAULTS_LIBRARY, 1);
    execl(FAULTS_PYTHON, FAULTS_PYTHON, FAULTS_SOURCE "/tests/faults/python.py", (char *)0);
    return 127;
}
