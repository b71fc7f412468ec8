! same.f90 - see same.c.
! SPDX-License-Identifier: MIT
program same
  use, intrinsic :: iso_c_binding
  use stdcl
  implicit none
  integer, parameter :: n = 1000, bodies = 100
  character(len=4096) :: file
  call get_command_argument(1, file)
  call saxpy(trim(file))
  call gravity
contains

  subroutine need(ok)
    logical, intent(in) :: ok
    if (.not. ok) error stop stdcl_string(clerror())
  end subroutine

  subroutine saxpy(file)
    character(len=*), intent(in) :: file
    real(c_float), pointer :: x(:), y(:)
    type(c_ptr) :: cp, px, py, h
    integer(c_intptr_t) :: event
    integer :: i
    cp = stdgpu()
    if (.not. c_associated(cp)) cp = stdcpu()
    px = clmalloc(cp, n * c_sizeof(0.0_c_float), 0)
    py = clmalloc(cp, n * c_sizeof(0.0_c_float), 0)
    call need(c_associated(px) .and. c_associated(py))
    call c_f_pointer(px, x, [n])
    call c_f_pointer(py, y, [n])
    x = [(1.0_c_float / real(i, c_float), i = 1, n)]
    y = [(real(i, c_float), i = 0, n - 1)]
    h = clopen(cp, file // c_null_char, CLLD_NOW)
    call need(c_associated(h))
    event = clmsync(cp, 0, px, CL_MEM_DEVICE + CL_EVENT_NOWAIT)
    event = clmsync(cp, 0, py, CL_MEM_DEVICE + CL_EVENT_NOWAIT)
    event = clforka(cp, 0, clsym(cp, h, "saxpy" // c_null_char, 0), clndrange(n), CL_EVENT_NOWAIT, &
      [clarg(0.1_c_float), clarg(px), clarg(py)])
    event = clmsync(cp, 0, py, CL_MEM_HOST + CL_EVENT_NOWAIT)
    call need(clwait(cp, 0, CL_ALL_EVENT) == 0)
    print '(z8.8)', y
    call need(clclose(cp, h) == 0)
    call need(clfree(px) == 0)
    call need(clfree(py) == 0)
  end subroutine

  subroutine gravity
    real(c_double) :: mass(bodies), pos(3, bodies), vel(3, bodies)
    type(c_ptr) :: nb
    call need(nbody_initial(NBODY_PLUMMER, int(bodies, c_size_t), 1_c_int64_t, mass, pos, vel) == 0)
    nb = nbody_create(nbody_options(eps=0.05d0, dt=1.0d0 / 64), int(bodies, c_size_t), mass, pos, vel)
    call need(c_associated(nb))
    call need(nbody_step(nb, 10_c_size_t) == 0)
    call need(nbody_state(nb, pos, vel) == 0)
    print '(z16.16)', pos, vel
    call nbody_free(nb)
  end subroutine
end program
