/* nbody_kern.cl - one step of all bodies: tiles of positions pass through local memory. */
/* SPDX-License-Identifier: MIT */
__kernel void nbody_kern(float dt, float eps, __global float4 *pos_old, __global float4 *pos_new,
                         __global float4 *vel, __local float4 *tile)
{
    int me = get_global_id(0), ti = get_local_id(0);
    int n = get_global_size(0), nt = get_local_size(0);
    float4 p = pos_old[me], v = vel[me];
    float4 a = (float4)(0.0f, 0.0f, 0.0f, 0.0f);

    for (int first = 0; first < n; first += nt) {
        tile[ti] = pos_old[first + ti];
        barrier(CLK_LOCAL_MEM_FENCE);
        for (int j = 0; j < nt; j++) {
            float4 d = tile[j] - p;
            float r2 = d.x * d.x + d.y * d.y + d.z * d.z + eps;
            float inv = 1.0f / sqrt(r2);
            a += (tile[j].w * inv * inv * inv) * d;
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }

    float4 q = p + dt * v + 0.5f * dt * dt * a;
    v += dt * a;
    q.w = p.w;
    v.w = 0.0f;
    pos_new[me] = q;
    vel[me] = v;
}
