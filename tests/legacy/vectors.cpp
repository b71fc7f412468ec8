/* vectors.cpp - a program in the C++ of the time: a template class holds shared memory, and the
 * steps of a small simulation are methods.
 * SPDX-License-Identifier: MIT
 */
#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <stdcl.h>

static CLCONTEXT *cp = 0;
static unsigned int devnum = 0;

template <typename T> class shared_vector
{
  public:
    explicit shared_vector(size_t n) : n_(n), p_((T *)clmalloc(cp, n * sizeof(T), 0))
    {
        if (!p_)
            throw std::runtime_error("clmalloc failed");
        std::fill(p_, p_ + n_, T());
    }
    ~shared_vector()
    {
        clfree(p_);
    }
    T &operator[](size_t i)
    {
        return p_[i];
    }
    T *ptr()
    {
        return p_;
    }
    size_t size() const
    {
        return n_;
    }
    void to_device()
    {
        clmsync(cp, devnum, p_, CL_MEM_DEVICE | CL_EVENT_NOWAIT);
    }
    void to_host()
    {
        clmsync(cp, devnum, p_, CL_MEM_HOST | CL_EVENT_NOWAIT);
    }

  private:
    size_t n_;
    T *p_;
};

class oscillators
{
  public:
    oscillators(size_t n, float omega)
        : omega2(omega * omega), x(n), v(n), h(clopen(cp, "oscillators.cl", CLLD_NOW)),
          krn(clsym(cp, h, "step_kern", CLLD_NOW))
    {
        if (!krn)
            throw std::runtime_error("no kernel");
    }
    ~oscillators()
    {
        clclose(cp, h);
    }
    void run(int nstep, cl_float dt)
    {
        clndrange_t ndr = clndrange_init1d(0, x.size(), 64);
        cl_uint n = x.size();
        x.to_device();
        v.to_device();
        clarg_set(cp, krn, 0, n);
        clarg_set(cp, krn, 1, dt);
        clarg_set(cp, krn, 2, omega2);
        clarg_set_global(cp, krn, 3, (cl_float *)x.ptr());
        clarg_set_global(cp, krn, 4, (cl_float *)v.ptr());
        for (int i = 0; i < nstep / 2; i++)
            clfork(cp, devnum, krn, &ndr, CL_EVENT_NOWAIT);
        for (int i = nstep / 2; i < nstep; i++)
            clforka(cp, devnum, krn, &ndr, CL_EVENT_NOWAIT, n, dt, omega2, x.ptr(), v.ptr());
        x.to_host();
        v.to_host();
        clflush(cp, devnum, 0);
        clwait(cp, devnum, CL_ALL_EVENT | CL_EVENT_RELEASE);
    }
    cl_float omega2;
    shared_vector<cl_float> x, v;

  private:
    void *h;
    cl_kernel krn;
};

int main(int argc, char **argv)
{
    if (!cp) {
        if (clgetndev(stdgpu))
            cp = stdgpu;
        else if (clgetndev(stdcpu))
            cp = stdcpu;
    }
    if (!cp) {
        fprintf(stderr, "error: no CL context\n");
        return -1;
    }
    if (argc > 1)
        devnum = atoi(argv[1]);

    const int n = 1000, nstep = 100;
    const float dt = 0.01f, omega = 2.0f;
    int wrong = 0;
    oscillators o(1024, omega);
    for (int i = 0; i < n; i++) {
        o.x[i] = 0.001f * i;
        o.v[i] = 1.0f - 0.001f * i;
    }
    o.run(nstep, dt);
    for (int i = 0; i < n; i++) {
        double x = 0.001 * i, v = 1.0 - 0.001 * i;
        for (int k = 0; k < nstep; k++) {
            v -= dt * omega * omega * x;
            x += dt * v;
        }
        if (!(std::fabs(o.x[i] - x) < 1e-4 && std::fabs(o.v[i] - v) < 1e-4) && wrong++ < 5)
            printf("%d %f %f instead of %f %f\n", i, o.x[i], o.v[i], x, v);
    }
    printf("%d wrong\n", wrong);
    return wrong != 0;
}
