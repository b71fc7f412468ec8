! test_stdcl.f90 - the module stdcl: memory, kernels, arguments, templates, an engine, errors.
! SPDX-License-Identifier: MIT
program test_stdcl
  use, intrinsic :: iso_c_binding
  use, intrinsic :: iso_fortran_env, only: error_unit
  use stdcl
  implicit none
  character(len=*), parameter :: nl = new_line('a'), source = &
    'kernel void mixed(global double *x, int i, long l, float f, double d, local int *tile)' // nl // &
    '{ tile[get_local_id(0)] = i; x[get_global_id(0)] = tile[get_local_id(0)] + l + (double)f + d; }' // nl // &
    'kernel void where(global ulong *x)' // nl // &
    '{ x[get_global_id(1) * get_global_size(0) + get_global_id(0)] = get_local_size(1) * 100 + get_global_id(1); }' // c_null_char
  type(c_ptr) :: cp

  cp = stdgpu()
  if (.not. c_associated(cp)) cp = stdcpu()
  if (.not. c_associated(cp)) stop 77
  call kernels
  call templates
  call gravity
  call errors
contains

  subroutine need(ok, what)
    logical, intent(in) :: ok
    character(len=*), intent(in) :: what
    if (ok) return
    write (error_unit, '(a)') 'FAILED: ' // what // ': ' // stdcl_string(clerror())
    stop 1
  end subroutine

  subroutine kernels
    real(c_double), pointer :: x(:)
    integer(c_int64_t), pointer :: w(:, :)
    type(c_ptr) :: p, q, h
    type(cldev_info), allocatable :: info(:)
    call need(clgetndev(cp) >= 1, 'clgetndev')
    allocate (info(clgetndev(cp)))
    call need(clgetdevinfo(cp, info) == 0, 'clgetdevinfo')
    call need(info(1)%dev_max_core >= 1, 'compute units')
    p = clmalloc(cp, 64 * c_sizeof(0.0_c_double), 0)
    call need(c_associated(p), 'clmalloc')
    call need(clsizeofmem(p) == 512, 'clsizeofmem')
    call c_f_pointer(p, x, [64])
    call need(all(x == 0), 'memory is zero at first')
    h = clsopen(cp, source, CLLD_NOW)
    call need(c_associated(h), 'clsopen')
    call need(clforka(cp, 0, clsym(cp, h, 'mixed' // c_null_char, 0), clndrange(64, 16), CL_EVENT_WAIT, &
      [clarg(p), clarg(-3), clarg(2_c_int64_t**40), clarg(0.5), clarg(0.25_c_double), clarg_local(64)]) == 0, 'clforka')
    call need(clmsync(cp, 0, p, CL_MEM_HOST) == 0, 'clmsync')
    call need(all(x == 2.0d0**40 - 2.25d0), 'arguments of every type')
    q = clmalloc(cp, 32 * c_sizeof(0_c_int64_t), 0)
    call c_f_pointer(q, w, [8, 4])
    call need(clforka(cp, 0, clsym(cp, h, 'where' // c_null_char, 0), &
      clndrange([8_c_size_t, 4_c_size_t], [2_c_size_t, 2_c_size_t]), CL_EVENT_NOWAIT, [clarg(q)]) /= -1, 'two dimensions')
    call need(clmsync(cp, 0, q, CL_MEM_HOST) == 0, 'clmsync')
    call need(all(w(:, 3) == 202), 'columns of Fortran are rows of C')
    call need(clclose(cp, h) == 0, 'clclose')
    call need(clfree(p) == 0, 'clfree')
    call need(clfree(q) == 0, 'clfree')
  end subroutine

  subroutine templates
    character(kind=c_char), target :: name(2) = ['N', c_null_char]
    type(clvalue_t) :: values(2)
    type(c_ptr) :: text
    character(len=*), parameter :: template = 'int n = ${N};'
    values(1)%name = c_loc(name)
    values(1)%kind = STDCL_V_INTEGER
    values(1)%as = 42
    values(2)%kind = STDCL_V_END
    text = cltemplatev('t' // c_null_char, template, len(template, c_size_t), values)
    call need(index(stdcl_string(text), 'int n = 42;') > 0, 'cltemplatev')
  end subroutine

  subroutine gravity
    real(c_double) :: pos(3, 2) = reshape([0.5d0, 0d0, 0d0, -0.5d0, 0d0, 0d0], [3, 2]), moved(3, 2), acc(3, 2)
    real(c_double) :: vel(3, 2) = reshape([0d0, 0.5d0, 0d0, 0d0, -0.5d0, 0d0], [3, 2])
    type(nbody_options) :: options
    type(nbody_diagnostics) :: d
    type(c_ptr) :: nb
    options%precision = NBODY_SINGLE
    options%dt = 2 * acos(-1d0) / 1024
    nb = nbody_create(options, 2_c_size_t, [0.5d0, 0.5d0], pos, vel)
    call need(c_associated(nb), 'nbody_create')
    call need(nbody_step(nb, 1024_c_size_t) == 0, 'nbody_step')
    call need(nbody_state(nb, pos=moved) == 0, 'an argument left out')
    call need(maxval(abs(moved - pos)) < 1d-2, 'two bodies go round')
    call need(nbody_forces(nb, acc) == 0, 'nbody_forces')
    call need(abs(norm2(acc(:, 1)) - 0.5d0) < 1d-2, 'columns are bodies')
    call need(nbody_diagnose(nb, d) == 0, 'nbody_diagnose')
    call need(abs(d%total + 0.125d0) < 1d-3, 'energy')
    call need(stdcl_string(nbody_explain_method(nb)) /= '', 'a sentence')
    call nbody_free(nb)
  end subroutine

  subroutine errors
    call need(stdcl_string(c_null_ptr) == '', 'no string')
    call need(.not. c_associated(clopen(cp, '/nowhere.cl' // c_null_char, 0)), 'a missing file')
    call need(clerrno() == 2, 'clerrno')
    call need(index(stdcl_string(clerror()), '/nowhere.cl') > 0, 'the sentence')
    call need(.not. c_associated(nbody_create(nbody_options(dt=-0.0d0), 1_c_size_t, [1d0], reshape([0d0, 0d0, 0d0], [3, 1]), &
      reshape([0d0, 0d0, 0d0], [3, 1]))), 'a wrong option')
    call need(index(stdcl_string(clerror()), 'time step') > 0, 'the sentence of an engine')
  end subroutine
end program
