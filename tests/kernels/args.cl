/* args.cl - kernels that report the arguments they were given. */
/* SPDX-License-Identifier: MIT */

__kernel void integers(char c, uchar uc, short s, ushort us, int i, uint ui, long l, ulong ul,
                       __global long *out)
{
    out[0] = c;
    out[1] = uc;
    out[2] = s;
    out[3] = us;
    out[4] = i;
    out[5] = ui;
    out[6] = l;
    out[7] = (long)ul;
}

__kernel void floats(float f, float2 f2, float4 f4, int4 i4, __global float *out)
{
    out[0] = f;
    vstore2(f2, 0, out + 1);
    vstore4(f4, 0, out + 3);
    vstore4(convert_float4(i4), 0, out + 7);
}

struct pair {
    int i;
    float f;
    char c[4];
};

__kernel void structure(struct pair p, __global float *out)
{
    out[0] = p.i;
    out[1] = p.f;
    out[2] = p.c[0];
    out[3] = p.c[3];
}

#ifdef cl_khr_fp64
__kernel void doubles(double d, double2 d2, __global double *out)
{
    out[0] = d;
    out[1] = d2.x;
    out[2] = d2.y;
}
#endif

/* The number of ints that fit the local memory given, and their sum of group-wide indices. */
__kernel void local_sum(__local int *tile, __global int *out)
{
    size_t i = get_local_id(0), n = get_local_size(0);
    tile[i] = (int)i;
    barrier(CLK_LOCAL_MEM_FENCE);
    if (i == 0) {
        int sum = 0;
        for (size_t k = 0; k < n; k++)
            sum += tile[k];
        out[get_group_id(0)] = sum;
    }
}

/* Two local arrays of different types, 64 elements per item; they must not overlap. */
__kernel void two_locals(__local int *a, __local float *b, __global float *out)
{
    int i = get_local_id(0), n = get_local_size(0);
    for (int k = 0; k < 64; k++) {
        a[k * n + i] = k * n + i;
        b[k * n + i] = 0.5f * (k * n + i);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    float sum = 0;
    for (int k = 0; k < 64; k++)
        sum += a[k * n + n - 1 - i] - b[k * n + n - 1 - i];
    out[get_global_id(0)] = sum;
}

__kernel void from_constant(__constant int *table, int i, __global int *out)
{
    out[0] = table[i];
}

__kernel void three_names(__global int *first_thing, int second_thing, int third_thing)
{
    first_thing[0] = second_thing + third_thing;
}

/* The maximum number of arguments of clforka. */
__kernel void sixty_three(int a0, int a1, int a2, int a3, int a4, int a5, int a6, int a7, int a8,
                          int a9, int a10, int a11, int a12, int a13, int a14, int a15, int a16,
                          int a17, int a18, int a19, int a20, int a21, int a22, int a23, int a24,
                          int a25, int a26, int a27, int a28, int a29, int a30, int a31, int a32,
                          int a33, int a34, int a35, int a36, int a37, int a38, int a39, int a40,
                          int a41, int a42, int a43, int a44, int a45, int a46, int a47, int a48,
                          int a49, int a50, int a51, int a52, int a53, int a54, int a55, int a56,
                          int a57, int a58, int a59, int a60, int a61, __global int *out)
{
    out[0] = a0;
    out[1] = a1;
    out[2] = a2;
    out[3] = a3;
    out[4] = a4;
    out[5] = a5;
    out[6] = a6;
    out[7] = a7;
    out[8] = a8;
    out[9] = a9;
    out[10] = a10;
    out[11] = a11;
    out[12] = a12;
    out[13] = a13;
    out[14] = a14;
    out[15] = a15;
    out[16] = a16;
    out[17] = a17;
    out[18] = a18;
    out[19] = a19;
    out[20] = a20;
    out[21] = a21;
    out[22] = a22;
    out[23] = a23;
    out[24] = a24;
    out[25] = a25;
    out[26] = a26;
    out[27] = a27;
    out[28] = a28;
    out[29] = a29;
    out[30] = a30;
    out[31] = a31;
    out[32] = a32;
    out[33] = a33;
    out[34] = a34;
    out[35] = a35;
    out[36] = a36;
    out[37] = a37;
    out[38] = a38;
    out[39] = a39;
    out[40] = a40;
    out[41] = a41;
    out[42] = a42;
    out[43] = a43;
    out[44] = a44;
    out[45] = a45;
    out[46] = a46;
    out[47] = a47;
    out[48] = a48;
    out[49] = a49;
    out[50] = a50;
    out[51] = a51;
    out[52] = a52;
    out[53] = a53;
    out[54] = a54;
    out[55] = a55;
    out[56] = a56;
    out[57] = a57;
    out[58] = a58;
    out[59] = a59;
    out[60] = a60;
    out[61] = a61;
}
