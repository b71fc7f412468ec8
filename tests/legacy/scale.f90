! scale.f90 - a program in Fortran, which links to the names of the library as they are.
! SPDX-License-Identifier: MIT
module names
  use, intrinsic :: iso_c_binding
  implicit none

  type, bind(C) :: clndrange
    integer(c_size_t) :: dim, gtid_offset(4), gtid(4), ltid(4)
  end type
  interface
    subroutine stdcl_init() bind(C)
    end subroutine
    function clmalloc(cp, size, flags) bind(C) result(p)
      import
      type(c_ptr), value :: cp
      integer(c_size_t), value :: size
      integer(c_int), value :: flags
      type(c_ptr) :: p
    end function
    function clfree(p) bind(C) result(status)
      import
      type(c_ptr), value :: p
      integer(c_int) :: status
    end function
    function clsopen(cp, source, flags) bind(C) result(h)
      import
      type(c_ptr), value :: cp
      character(kind=c_char), intent(in) :: source(*)
      integer(c_int), value :: flags
      type(c_ptr) :: h
    end function
    function clsym(cp, h, name, flags) bind(C) result(krn)
      import
      type(c_ptr), value :: cp, h
      character(kind=c_char), intent(in) :: name(*)
      integer(c_int), value :: flags
      type(c_ptr) :: krn
    end function
    function clarg_set_global(cp, krn, i, p) bind(C) result(offset)
      import
      type(c_ptr), value :: cp, krn, p
      integer(c_int), value :: i
      integer(c_size_t) :: offset
    end function
    function clmsync(cp, dev, p, flags) bind(C) result(ev)
      import
      type(c_ptr), value :: cp, p
      integer(c_int), value :: dev, flags
      type(c_ptr) :: ev
    end function
    function clfork(cp, dev, krn, ndr, flags) bind(C) result(ev)
      import
      type(c_ptr), value :: cp, krn
      integer(c_int), value :: dev, flags
      type(clndrange) :: ndr
      type(c_ptr) :: ev
    end function
    function clwait(cp, dev, flags) bind(C) result(ev)
      import
      type(c_ptr), value :: cp
      integer(c_int), value :: dev, flags
      type(c_ptr) :: ev
    end function
  end interface
  type(c_ptr), bind(C, name="stdcpu") :: stdcpu
  type(c_ptr), bind(C, name="stdgpu") :: stdgpu
end module

program scale
  use names
  implicit none

  integer(c_int), parameter :: nowait = 2, host = 256, device = 512, all_events = 48
  integer, parameter :: n = 256
  type(c_ptr) :: cp, p, h, krn, ev
  type(clndrange) :: ndr
  real(c_float), pointer :: x(:)
  integer :: i, wrong

  call stdcl_init()
  cp = stdcpu
  if (c_associated(stdgpu)) cp = stdgpu
  if (.not. c_associated(cp)) stop 1
  p = clmalloc(cp, int(4 * n, c_size_t), 0)
  call c_f_pointer(p, x, [n])
  do i = 1, n
    x(i) = real(i)
  end do
  h = clsopen(cp, "__kernel void triple(__global float* x) { x[get_global_id(0)] *= 3.0f; }" // c_null_char, 2)
  krn = clsym(cp, h, "triple" // c_null_char, 0)
  if (.not. c_associated(krn)) stop 2
  ndr%dim = 1
  ndr%gtid_offset = 0
  ndr%gtid = [n, 0, 0, 0]
  ndr%ltid = 0
  ev = clmsync(cp, 0, p, ior(device, nowait))
  if (clarg_set_global(cp, krn, 0, p) /= 0) stop 3
  ev = clfork(cp, 0, krn, ndr, nowait)
  ev = clmsync(cp, 0, p, ior(host, nowait))
  if (c_associated(clwait(cp, 0, all_events))) stop 4
  wrong = 0
  do i = 1, n
    if (x(i) /= 3.0 * real(i)) wrong = wrong + 1
  end do
  print '(i0, a)', wrong, " wrong"
  if (wrong /= 0 .or. clfree(p) /= 0) stop 5
end program
