/* drag.cl - a force of the user, for run.sh. SPDX-License-Identifier: MIT */
real3 force(real3 position, real3 velocity, real mass, real time, uint index)
{
    return -gamma * velocity;
}
