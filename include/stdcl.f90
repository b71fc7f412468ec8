! stdcl.f90 - OpenCL in the style of UNIX, for Fortran: the functions, types and constants of stdcl.h and stdcl/*.h.
!
!   use stdcl
!   cp = stdcpu()                                             a list of devices
!   p = clmalloc(cp, n * c_sizeof(1.0), 0)                    memory shared by host and devices ...
!   call c_f_pointer(p, x, [n])                               ... as an array
!   krn = clsym(cp, clsopen(cp, text // c_null_char, 0), "scale" // c_null_char, 0)
!   event = clmsync(cp, 0, p, CL_MEM_DEVICE + CL_EVENT_NOWAIT)
!   event = clforka(cp, 0, krn, clndrange(n), CL_EVENT_NOWAIT, [clarg(p), clarg(2.0)])
!   event = clmsync(cp, 0, p, CL_MEM_HOST + CL_EVENT_NOWAIT)
!   if (clwait(cp, 0, CL_ALL_EVENT) /= 0) error stop stdcl_string(clerror())
!
! The source is installed, since .mod files depend on the compiler: compile it with your program. Made by
! tools/bindings/generate.py from the headers: do not edit. Each function has a manual page, `man 3 clmalloc`. Strings
! for C end in c_null_char, and unsigned numbers of C are signed integers of equal size.
! SPDX-License-Identifier: MIT
module stdcl
  use, intrinsic :: iso_c_binding
  implicit none
  public

  integer(c_int), parameter :: STDCL_VALUE = 0
  integer(c_int), parameter :: STDCL_GLOBAL = 1
  integer(c_int), parameter :: STDCL_LOCAL = 2
  integer(c_int), parameter :: STDCL_V_END = 0
  integer(c_int), parameter :: STDCL_V_INTEGER = 1
  integer(c_int), parameter :: STDCL_V_NATURAL = 2
  integer(c_int), parameter :: STDCL_V_NUMBER = 3
  integer(c_int), parameter :: STDCL_V_BOOL = 4
  integer(c_int), parameter :: STDCL_V_STRING = 5
  integer(c_int), parameter :: STDCL_V_TABLE = 6
  integer(c_int), parameter :: ARRAYS_FLOAT = 0
  integer(c_int), parameter :: ARRAYS_DOUBLE = 1
  integer(c_int), parameter :: ARRAYS_INT = 2
  integer(c_int), parameter :: ARRAYS_LONG = 3
  integer(c_int), parameter :: ARRAYS_WIDE = 0
  integer(c_int), parameter :: ARRAYS_COMPENSATED = 1
  integer(c_int), parameter :: ARRAYS_TUNED = 0
  integer(c_int), parameter :: ARRAYS_TREE = 1
  integer(c_int), parameter :: ARRAYS_UNSIGNED = 0
  integer(c_int), parameter :: ARRAYS_SIGNED = 1
  integer(c_int), parameter :: ARRAYS_FLOATING = 2
  integer(c_int), parameter :: LIFE_TORUS = 0
  integer(c_int), parameter :: LIFE_PLANE = 1
  integer(c_int), parameter :: LIFE_JOINED = 2
  integer(c_int), parameter :: LIFE_UNBOUNDED = 3
  integer(c_int), parameter :: LIFE_RULE_TEXT_TYPE = 2048
  integer(c_int), parameter :: LIFE_GRID_TEXT_TYPE = 96
  integer(c_int), parameter :: LIFE_AUTO = 0
  integer(c_int), parameter :: LIFE_PACKED = 1
  integer(c_int), parameter :: LIFE_LOCAL = 2
  integer(c_int), parameter :: LIFE_GLOBAL = 3
  integer(c_int), parameter :: LIFE_REFERENCE = 4
  integer(c_int), parameter :: LIFE_HASHLIFE = 5
  integer(c_int), parameter :: LIFE_SPARSE = 6
  integer(c_int), parameter :: LIFE_ENGINES = 7
  integer(c_int), parameter :: LIFE_POPULATION_TEXT_TYPE = 80
  integer(c_int), parameter :: LIFE_ROTATE_0 = 0
  integer(c_int), parameter :: LIFE_ROTATE_90 = 1
  integer(c_int), parameter :: LIFE_ROTATE_180 = 2
  integer(c_int), parameter :: LIFE_ROTATE_270 = 3
  integer(c_int), parameter :: LIFE_FLIP_X = 4
  integer(c_int), parameter :: LIFE_FLIP_Y = 5
  integer(c_int), parameter :: LIFE_TRANSPOSE = 6
  integer(c_int), parameter :: LIFE_ANTITRANSPOSE = 7
  integer(c_int), parameter :: LIFE_TURNS = 8
  integer(c_int), parameter :: LIFE_AND = 0
  integer(c_int), parameter :: LIFE_OR = 1
  integer(c_int), parameter :: LIFE_XOR = 2
  integer(c_int), parameter :: LIFE_DIFFERENCE = 3
  integer(c_int), parameter :: GAS_FUSED = 0
  integer(c_int), parameter :: GAS_STORED = 1
  integer(c_int), parameter :: GAS_DEVICE = 0
  integer(c_int), parameter :: GAS_HOST = 1
  integer(c_int), parameter :: GAS_GIVEN = 2
  integer(c_int), parameter :: LIFE_UNSETTLED = 0
  integer(c_int), parameter :: LIFE_EXTINCT = 1
  integer(c_int), parameter :: LIFE_STILL = 2
  integer(c_int), parameter :: LIFE_OSCILLATOR = 3
  integer(c_int), parameter :: LIFE_SPACESHIP = 4
  integer(c_int), parameter :: LIFE_OBJECTS = 5
  integer(c_int), parameter :: LIFE_GUN = 6
  integer(c_int), parameter :: LIFE_RAKE = 7
  integer(c_int), parameter :: LIFE_PUFFER = 8
  integer(c_int), parameter :: LIFE_QUADRATIC = 9
  integer(c_int), parameter :: LIFE_SYMMETRY_TEXT = 8
  integer(c_int), parameter :: MATMUL_TUNED = 0
  integer(c_int), parameter :: MATMUL_NAIVE = 1
  integer(c_int), parameter :: MATMUL_BLOCKED = 2
  integer(c_int), parameter :: MATMUL_CPU_NAIVE = 3
  integer(c_int), parameter :: MATMUL_CPU_BLOCKED = 4
  integer(c_int), parameter :: MATMUL_OPENBLAS = 5
  integer(c_int), parameter :: MATMUL_SYCL = 6
  integer(c_int), parameter :: MATMUL_CLBLAST = 7
  integer(c_int), parameter :: MATMUL_KINDS = 8
  integer(c_int), parameter :: MATMUL_SINGLE_TYPE = 0
  integer(c_int), parameter :: MATMUL_DOUBLE_TYPE = 1
  integer(c_int), parameter :: MATMUL_NN = 0
  integer(c_int), parameter :: MATMUL_NT = 1
  integer(c_int), parameter :: MATMUL_TN = 2
  integer(c_int), parameter :: MATMUL_TT = 3
  integer(c_int), parameter :: NBODY_LEAPFROG = 0
  integer(c_int), parameter :: NBODY_HERMITE4 = 1
  integer(c_int), parameter :: NBODY_TAYLOR = 2
  integer(c_int), parameter :: NBODY_YOSHIDA4 = 3
  integer(c_int), parameter :: NBODY_IAS15 = 4
  integer(c_int), parameter :: NBODY_HERMITE6 = 5
  integer(c_int), parameter :: NBODY_WHFAST = 6
  integer(c_int), parameter :: NBODY_TRACE = 7
  integer(c_int), parameter :: NBODY_JACOBI = 0
  integer(c_int), parameter :: NBODY_HELIOCENTRIC = 1
  integer(c_int), parameter :: NBODY_FIXED = 0
  integer(c_int), parameter :: NBODY_ADAPTIVE = 1
  integer(c_int), parameter :: NBODY_BLOCK = 2
  integer(c_int), parameter :: NBODY_SINGLE = 0
  integer(c_int), parameter :: NBODY_DOUBLE = 1
  integer(c_int), parameter :: NBODY_MIXED = 2
  integer(c_int), parameter :: NBODY_TUNED = 0
  integer(c_int), parameter :: NBODY_NAIVE = 1
  integer(c_int), parameter :: NBODY_BRANCHLESS = 2
  integer(c_int), parameter :: NBODY_TILED = 3
  integer(c_int), parameter :: NBODY_DIRECT = 0
  integer(c_int), parameter :: NBODY_TREE = 1
  integer(c_int), parameter :: NBODY_AUTO = 2
  integer(c_int), parameter :: NBODY_ON_DEVICES = 0
  integer(c_int), parameter :: NBODY_ON_HOST = 1
  integer(c_int), parameter :: NBODY_ON_FASTER = 2
  integer(c_int), parameter :: NBODY_FEW = 128
  integer(c_int), parameter :: NBODY_FIELD_POINT = 0
  integer(c_int), parameter :: NBODY_FIELD_PLUMMER = 1
  integer(c_int), parameter :: NBODY_FIELD_LOGARITHMIC = 2
  integer(c_int), parameter :: NBODY_FORCE_OF_POSITION = 0
  integer(c_int), parameter :: NBODY_FORCE_OF_VELOCITY = 1
  integer(c_int), parameter :: NBODY_ENCOUNTER = 0
  integer(c_int), parameter :: NBODY_PERICENTRE = 1
  integer(c_int), parameter :: NBODY_APOCENTRE = 2
  integer(c_int), parameter :: NBODY_TRANSIT = 3
  integer(c_int), parameter :: NBODY_ESCAPE = 4
  integer(c_int), parameter :: NBODY_SYSTEM_RUNS = 0
  integer(c_int), parameter :: NBODY_SYSTEM_ESCAPE = 1
  integer(c_int), parameter :: NBODY_SYSTEM_CONTACT = 2
  integer(c_int), parameter :: NBODY_SYSTEM_FAILED = 3
  integer(c_int), parameter :: NBODY_PLUMMER = 0
  integer(c_int), parameter :: NBODY_UNIFORM = 1
  integer(c_int), parameter :: NBODY_COLD = 2
  integer(c_int), parameter :: NBODY_COLLISION = 3
  integer(c_int), parameter :: NBODY_FIGURE8 = 4
  integer(c_int), parameter :: NBODY_PYTHAGOREAN = 5
  integer(c_int), parameter :: NBODY_HERNQUIST = 6
  integer(c_int), parameter :: NBODY_GALAXY = 7
  integer(c_int), parameter :: LIFE_SWEEP_SIDE = 64
  integer(c_int), parameter :: LIFE_SWEEP_PERIOD = 120
  integer(c_int), parameter :: VIEW_NAMED = 64
  integer(c_int), parameter :: VIEW_CAN_PAUSE = 1
  integer(c_int), parameter :: VIEW_CAN_STEP = 2
  integer(c_int), parameter :: VIEW_CAN_SPEED = 4
  integer(c_int), parameter :: VIEW_CAN_QUIT = 8
  integer(c_int), parameter :: VIEW_CAN_SEEK = 16
  integer(c_int), parameter :: VIEW_CAN_AGAIN = 32
  integer(c_int), parameter :: VIEW_CAN_PUT = 64
  integer(c_int), parameter :: VIEW_CAN_BACK = 128
  integer(c_int), parameter :: VIEW_CAN_RULE = 256
  integer(c_int), parameter :: VIEW_INSTANTS = 32
  integer(c_int), parameter :: VIEW_REGIONS = 9
  integer(c_int), parameter :: VIEW_PROFILES = 4
  integer(c_int), parameter :: VIEW_PROFILE_BINS = 64
  integer(c_int), parameter :: VIEW_PAUSE = 0
  integer(c_int), parameter :: VIEW_RUN = 1
  integer(c_int), parameter :: VIEW_STEP = 2
  integer(c_int), parameter :: VIEW_SPEED = 3
  integer(c_int), parameter :: VIEW_SEEK = 4
  integer(c_int), parameter :: VIEW_QUIT = 5
  integer(c_int), parameter :: VIEW_AGAIN = 6
  integer(c_int), parameter :: VIEW_PUT = 7
  integer(c_int), parameter :: VIEW_RULE = 8
  integer(c_int), parameter :: VIEW_PUT_BYTES = 1536
  integer(c_int), parameter :: VIEW_RULE_BYTES = 512
  integer(c_int), parameter :: VIEW_OBJECTS_BYTES = 256
  integer(c_int), parameter :: STDCL_VERSION_MAJOR = 1
  integer(c_int), parameter :: STDCL_VERSION_MINOR = 0
  integer(c_int), parameter :: STDCL_VERSION_PATCH = 0
  integer(c_int), parameter :: CL_MEM_RO = int(z'000001', c_int)
  integer(c_int), parameter :: CL_MEM_WO = int(z'000002', c_int)
  integer(c_int), parameter :: CL_MEM_RW = int(z'000003', c_int)
  integer(c_int), parameter :: CL_MEM_HOST = int(z'000100', c_int)
  integer(c_int), parameter :: CL_MEM_DEVICE = int(z'000200', c_int)
  integer(c_int), parameter :: CL_MEM_NOCOPY = int(z'000400', c_int)
  integer(c_int), parameter :: CL_MEM_DETACHED = int(z'001000', c_int)
  integer(c_int), parameter :: CL_MEM_NOFORCE = int(z'002000', c_int)
  integer(c_int), parameter :: CL_MEM_ZEROCOPY = int(z'004000', c_int)
  integer(c_int), parameter :: CL_MEM_DEVONLY = int(z'008000', c_int)
  integer(c_int), parameter :: CL_MEM_IMAGE = int(z'010000', c_int)
  integer(c_int), parameter :: CL_MEM_IMAGE2D = int(z'010000', c_int)
  integer(c_int), parameter :: CL_MEM_PER_DEVICE = int(z'020000', c_int)
  integer(c_int), parameter :: CL_MEM_SAMPLER = int(z'040000', c_int)
  integer(c_int), parameter :: CL_MEM_SVM = int(z'080000', c_int)
  integer(c_int), parameter :: CL_MEM_CLBUF = int(z'100000', c_int)
  integer(c_int), parameter :: CL_MEM_GLBUF = int(z'200000', c_int)
  integer(c_int), parameter :: CL_MEM_GLTEX2D = int(z'2000000', c_int)
  integer(c_int), parameter :: CL_MEM_GLTEX3D = int(z'4000000', c_int)
  integer(c_int), parameter :: CL_MEM_GLRBUF = int(z'8000000', c_int)
  integer(c_int), parameter :: CL_MCTL_GET_STATUS = 1
  integer(c_int), parameter :: CL_MCTL_GET_DEVNUM = 2
  integer(c_int), parameter :: CL_MCTL_SET_DEVNUM = 3
  integer(c_int), parameter :: CL_MCTL_MARK_CLEAN = 4
  integer(c_int), parameter :: CL_MCTL_SET_IMAGE2D = 5
  integer(c_int), parameter :: CL_MCTL_SET_USRFLAGS = 6
  integer(c_int), parameter :: CL_MCTL_CLR_USRFLAGS = 7
  integer(c_int), parameter :: CL_MCTL_SET_IMAGE = 8
  integer(c_int), parameter :: CL_MCTL_SET_SAMPLER = 9
  integer(c_int), parameter :: CL_MCTL_GET_SVM = 10
  integer(c_int), parameter :: CLLD_DEFAULT = 0
  integer(c_int), parameter :: CLLD_LAZY = 1
  integer(c_int), parameter :: CLLD_NOW = 2
  integer(c_int), parameter :: CLLD_NOBUILD = 4
  integer(c_int), parameter :: CLLD_CACHE = 16
  integer(c_int), parameter :: CLLD_GLOBAL = 8
  integer(c_int), parameter :: CL_FAST = 0
  integer(c_int), parameter :: CL_EVENT_WAIT = int(z'1', c_int)
  integer(c_int), parameter :: CL_EVENT_NOWAIT = int(z'2', c_int)
  integer(c_int), parameter :: CL_EVENT_RELEASE = int(z'4', c_int)
  integer(c_int), parameter :: CL_EVENT_NORELEASE = int(z'8', c_int)
  integer(c_int), parameter :: CL_KERNEL_EVENT = int(z'10', c_int)
  integer(c_int), parameter :: CL_MEM_EVENT = int(z'20', c_int)
  integer(c_int), parameter :: CL_ALL_EVENT = int(z'30', c_int)
  integer(c_int), parameter :: CL_EVENT_UNCOUNTED = int(z'40', c_int)
  integer(c_int), parameter :: CL_EVENT_OWN = int(z'800', c_int)
  integer(c_int), parameter :: CL_EVENT_SIDE_QUEUE = int(z'40000', c_int)
  integer(c_int), parameter :: CL_EVENT_BARRIER = int(z'80000', c_int)
  integer(c_int), parameter :: CL_EVENT_CHECKED = int(z'80', c_int)
  integer(c_int), parameter :: CLPROF_EVERY = 2
  integer(c_int), parameter :: CLPROF_SINGLE = 0
  integer(c_int), parameter :: CLPROF_DOUBLE = 1
  integer(c_int), parameter :: CLPROF_TENSOR = 2
  integer(c_int), parameter :: CLPROF_TABLE = 0
  integer(c_int), parameter :: CLPROF_CSV = 1
  integer(c_int), parameter :: CLPROF_JSON = 2

  type, bind(C) :: arrays_options
    type(c_ptr) :: ctx = c_null_ptr
    integer(c_int) :: type = 0
    integer(c_int) :: accumulator = 0
    integer(c_int) :: method = 0
    type(c_ptr) :: shape = c_null_ptr
    type(c_funptr) :: progress = c_null_funptr
    type(c_ptr) :: arg = c_null_ptr
    integer(c_int32_t) :: first_device = 0
    integer(c_int32_t) :: devices = 0
    integer(c_intptr_t) :: reserved(8) = 0
  end type

  type, bind(C) :: arrays_histogram_job
    type(c_ptr) :: x = c_null_ptr
    type(c_ptr) :: bins = c_null_ptr
    integer(c_int) :: type = 0
    integer(c_int) :: of_bytes = 0
    real(c_double) :: lower = 0
    real(c_double) :: upper = 0
    integer(c_int32_t) :: nbins = 0
    integer(c_size_t) :: most = 0
    type(c_ptr) :: count = c_null_ptr
    integer(c_intptr_t) :: reserved(8) = 0
  end type

  type, bind(C) :: arrays_by_key_job
    type(c_ptr) :: keys = c_null_ptr
    type(c_ptr) :: values = c_null_ptr
    type(c_ptr) :: unique = c_null_ptr
    type(c_ptr) :: sums = c_null_ptr
    type(c_ptr) :: runs = c_null_ptr
    integer(c_int) :: bytes = 0
    integer(c_int) :: type = 0
    integer(c_size_t) :: most = 0
    type(c_ptr) :: count = c_null_ptr
    integer(c_intptr_t) :: reserved(8) = 0
  end type

  type, bind(C) :: arrays_scan_job
    type(c_ptr) :: x = c_null_ptr
    type(c_ptr) :: sums = c_null_ptr
    type(c_ptr) :: total = c_null_ptr
    integer(c_int) :: bytes = 0
    integer(c_int) :: floating = 0
    integer(c_int) :: inclusive = 0
    integer(c_size_t) :: most = 0
    type(c_ptr) :: count = c_null_ptr
    type(c_ptr) :: work = c_null_ptr
    integer(c_intptr_t) :: reserved(8) = 0
  end type

  type, bind(C) :: arrays_segments_job
    type(c_ptr) :: x = c_null_ptr
    type(c_ptr) :: offsets = c_null_ptr
    type(c_ptr) :: sums = c_null_ptr
    integer(c_int) :: type = 0
    integer(c_size_t) :: most = 0
    integer(c_size_t) :: segments = 0
    integer(c_intptr_t) :: reserved(8) = 0
  end type

  type, bind(C) :: arrays_select_job
    type(c_ptr) :: x = c_null_ptr
    type(c_ptr) :: flags = c_null_ptr
    type(c_ptr) :: out = c_null_ptr
    type(c_ptr) :: selected = c_null_ptr
    integer(c_int) :: bytes = 0
    integer(c_size_t) :: most = 0
    type(c_ptr) :: count = c_null_ptr
    integer(c_intptr_t) :: reserved(8) = 0
  end type

  type, bind(C) :: arrays_sort_job
    type(c_ptr) :: keys = c_null_ptr
    type(c_ptr) :: values = c_null_ptr
    integer(c_int) :: bytes = 0
    integer(c_int) :: value_bytes = 0
    integer(c_int) :: order = 0
    integer(c_int) :: descending = 0
    integer(c_int) :: first_bit = 0
    integer(c_int) :: bits = 0
    integer(c_size_t) :: most = 0
    type(c_ptr) :: count = c_null_ptr
    type(c_ptr) :: work = c_null_ptr
    integer(c_intptr_t) :: reserved(8) = 0
  end type

  type, bind(C) :: arrays_sorter_options
    type(c_ptr) :: ctx = c_null_ptr
    integer(c_int32_t) :: dev = 0
    type(c_ptr) :: shape = c_null_ptr
    integer(c_intptr_t) :: reserved(8) = 0
  end type

  type, bind(C) :: clarg_info_t
    integer(c_int) :: kind = 0
    type(c_ptr) :: type = c_null_ptr
    type(c_ptr) :: name = c_null_ptr
  end type

  type, bind(C) :: clndrange_t
    integer(c_size_t) :: dim = 0
    integer(c_size_t) :: gtid_offset(4) = 0
    integer(c_size_t) :: gtid(4) = 0
    integer(c_size_t) :: ltid(4) = 0
  end type

  type, bind(C) :: stdcl_arg
    integer(c_size_t) :: size = 0
    integer(c_int) :: kind = 0
    type(c_ptr) :: value = c_null_ptr
    type(c_ptr) :: type = c_null_ptr
  end type

  type, bind(C) :: cldev_info
    integer(c_int64_t) :: dev_type = 0
    integer(c_int32_t) :: dev_vendor_id = 0
    integer(c_int32_t) :: dev_max_core = 0
    integer(c_int32_t) :: dev_max_wi_dim = 0
    integer(c_size_t) :: dev_max_wi_sz(4) = 0
    integer(c_int32_t) :: dev_max_wi_sz_is_symmetric = 0
    integer(c_size_t) :: dev_max_wg_sz = 0
    integer(c_int32_t) :: dev_pref_vec_char = 0
    integer(c_int32_t) :: dev_pref_vec_short = 0
    integer(c_int32_t) :: dev_pref_vec_int = 0
    integer(c_int32_t) :: dev_pref_vec_long = 0
    integer(c_int32_t) :: dev_pref_vec_float = 0
    integer(c_int32_t) :: dev_pref_vec_double = 0
    integer(c_int32_t) :: dev_max_freq = 0
    integer(c_int64_t) :: dev_addr_bits = 0
    integer(c_int64_t) :: dev_global_mem_sz = 0
    integer(c_int64_t) :: dev_max_mem_alloc_sz = 0
    integer(c_int32_t) :: dev_img_sup = 0
    integer(c_int32_t) :: dev_max_img_args_r = 0
    integer(c_int32_t) :: dev_max_img_args_w = 0
    integer(c_size_t) :: dev_img2d_max_width = 0
    integer(c_size_t) :: dev_img2d_max_height = 0
    integer(c_size_t) :: dev_img3d_max_width = 0
    integer(c_size_t) :: dev_img3d_max_height = 0
    integer(c_size_t) :: dev_img3d_max_depth = 0
    integer(c_int32_t) :: dev_max_samplers = 0
    integer(c_size_t) :: dev_max_param_sz = 0
    integer(c_int32_t) :: dev_mem_base_addr_align = 0
    character(kind=c_char) :: dev_name(256) = c_null_char
    character(kind=c_char) :: dev_vendor(256) = c_null_char
    character(kind=c_char) :: dev_version(256) = c_null_char
    character(kind=c_char) :: dev_drv_version(256) = c_null_char
    integer(c_int64_t) :: dev_local_mem_sz = 0
  end type

  type, bind(C) :: clvalue_t
    type(c_ptr) :: name = c_null_ptr
    integer(c_int) :: kind = 0
    integer(c_int64_t) :: as = 0
  end type

  type, bind(C) :: clpeak_info
    real(c_double) :: flops_single = 0
    real(c_double) :: flops_double = 0
    real(c_double) :: bytes_per_s = 0
    real(c_double) :: flops_tensor = 0
  end type

  type, bind(C) :: clprofile_row
    integer(c_int32_t) :: device = 0
    type(c_ptr) :: name = c_null_ptr
    integer(c_int) :: kind = 0
    integer(c_size_t) :: count = 0
    integer(c_size_t) :: timed = 0
    real(c_double) :: total = 0
    real(c_double) :: minimum = 0
    real(c_double) :: maximum = 0
    real(c_double) :: bytes = 0
    real(c_double) :: flops = 0
    real(c_double) :: peak_percent = 0
  end type

  type, bind(C) :: clstat_info
    integer(c_int32_t) :: impid = 0
    integer(c_int32_t) :: ndev = 0
    integer(c_int32_t) :: nprg = 0
    integer(c_int32_t) :: nkrn = 0
  end type

  type, bind(C) :: cltune_rules
    type(c_ptr) :: name = c_null_ptr
    type(c_ptr) :: keys = c_null_ptr
    integer(c_int) :: kind = 0
    type(c_funptr) :: defaults = c_null_funptr
    type(c_funptr) :: fit = c_null_funptr
    type(c_ptr) :: arg = c_null_ptr
    integer(c_intptr_t) :: reserved(8) = 0
  end type

  type, bind(C) :: cltune_row
    character(kind=c_char) :: shape(512) = c_null_char
    character(kind=c_char) :: source(256) = c_null_char
  end type

  type, bind(C) :: cltune_kernel
    type(c_ptr) :: name = c_null_ptr
    type(c_ptr) :: unit = c_null_ptr
    type(c_ptr) :: knob = c_null_ptr
    integer(c_size_t) :: nknobs = 0
    type(c_ptr) :: sizes = c_null_ptr
    integer(c_size_t) :: nsizes = 0
    type(c_funptr) :: open = c_null_funptr
    type(c_funptr) :: close = c_null_funptr
    type(c_funptr) :: allowed = c_null_funptr
    type(c_funptr) :: verify = c_null_funptr
    type(c_funptr) :: measure = c_null_funptr
    type(c_ptr) :: arg = c_null_ptr
    type(c_ptr) :: like = c_null_ptr
    integer(c_intptr_t) :: reserved(7) = 0
  end type

  type, bind(C) :: gas_options
    type(c_ptr) :: ctx = c_null_ptr
    integer(c_int64_t) :: n = 0
    real(c_double) :: temperature = 0
    real(c_double) :: mass = 0
    real(c_double) :: boltzmann = 0
    integer(c_int64_t) :: seed = 0
    integer(c_int) :: storage = 0
    integer(c_int) :: source = 0
    integer(c_int) :: type = 0
    integer(c_int) :: accumulator = 0
    integer(c_int) :: method = 0
    type(c_ptr) :: shape = c_null_ptr
    type(c_funptr) :: progress = c_null_funptr
    type(c_ptr) :: arg = c_null_ptr
    type(c_ptr) :: world = c_null_ptr
    integer(c_intptr_t) :: reserved(8) = 0
  end type

  type, bind(C) :: gas_energy
    real(c_double) :: mean_energy = 0
    real(c_double) :: expected = 0
    real(c_double) :: standard_error = 0
    real(c_double) :: sigmas = 0
    real(c_double) :: temperature = 0
  end type

  type, bind(C) :: life_number
    integer(c_int64_t) :: low = 0
    integer(c_int64_t) :: high = 0
  end type

  type, bind(C) :: life_box
    type(life_number) :: left
    type(life_number) :: top
    type(life_number) :: right
    type(life_number) :: bottom
  end type

  type, bind(C) :: life_cells
    integer(c_size_t) :: width = 0
    integer(c_size_t) :: height = 0
    integer(c_size_t) :: stride = 0
    type(c_ptr) :: word = c_null_ptr
  end type

  type, bind(C) :: life_census_options
    type(c_ptr) :: ctx = c_null_ptr
    type(c_ptr) :: rule = c_null_ptr
    integer(c_size_t) :: width = 0
    integer(c_size_t) :: height = 0
    real(c_double) :: density = 0
    integer(c_int64_t) :: seed = 0
    integer(c_int64_t) :: first = 0
    integer(c_int64_t) :: generations = 0
    type(c_funptr) :: progress = c_null_funptr
    type(c_ptr) :: arg = c_null_ptr
    type(c_ptr) :: symmetry = c_null_ptr
    type(c_ptr) :: root = c_null_ptr
    integer(c_intptr_t) :: reserved(8) = 0
  end type

  type, bind(C) :: life_census_totals
    integer(c_int64_t) :: soups = 0
    integer(c_int64_t) :: objects = 0
    integer(c_int64_t) :: generations = 0
    integer(c_int64_t) :: undecided = 0
    integer(c_int64_t) :: undecided_soup(8) = 0
    real(c_double) :: objects_error = 0
  end type

  type, bind(C) :: life_options
    type(c_ptr) :: ctx = c_null_ptr
    integer(c_int) :: engine = 0
    integer(c_size_t) :: width = 0
    integer(c_size_t) :: height = 0
    integer(c_int) :: bounds = 0
    type(c_ptr) :: rule = c_null_ptr
    type(c_funptr) :: progress = c_null_funptr
    type(c_ptr) :: arg = c_null_ptr
    type(c_ptr) :: shape = c_null_ptr
    type(c_ptr) :: world = c_null_ptr
    type(c_ptr) :: grid = c_null_ptr
    type(c_ptr) :: transitions = c_null_ptr
    integer(c_size_t) :: memory = 0
    integer(c_int) :: threads = 0
    integer(c_intptr_t) :: reserved(8) = 0
  end type

  type, bind(C) :: life_identity
    integer(c_int) :: kind = 0
    integer(c_int64_t) :: generation = 0
    integer(c_int64_t) :: period = 0
    integer(c_long_long) :: dx = 0
    integer(c_long_long) :: dy = 0
    integer(c_int64_t) :: growth = 0
    integer(c_int64_t) :: least = 0
    integer(c_int64_t) :: most = 0
    real(c_double) :: mean = 0
    real(c_double) :: heat = 0
    character(kind=c_char) :: symmetry(LIFE_SYMMETRY_TEXT) = c_null_char
    type(c_ptr) :: code = c_null_ptr
    integer(c_size_t) :: objects = 0
    type(c_ptr) :: object = c_null_ptr
  end type

  type, bind(C) :: life_cell
    integer(c_long_long) :: x = 0
    integer(c_long_long) :: y = 0
  end type

  type, bind(C) :: life_sample
    integer(c_int64_t) :: generation = 0
    integer(c_int64_t) :: population = 0
    integer(c_int64_t) :: hash = 0
  end type

  type, bind(C) :: life_rule
    integer(c_int) :: birth = 0
    integer(c_int) :: survival = 0
  end type

  type, bind(C) :: life_statistics
    integer(c_int64_t) :: collections = 0
    integer(c_int64_t) :: tiles = 0
    integer(c_int64_t) :: tiles_computed = 0
  end type

  type, bind(C) :: life_sweep_options
    type(c_ptr) :: ctx = c_null_ptr
    integer(c_int) :: soups = 0
    real(c_double) :: density = 0
    integer(c_int64_t) :: seed = 0
    integer(c_int32_t) :: generations = 0
    type(c_funptr) :: progress = c_null_funptr
    type(c_ptr) :: arg = c_null_ptr
    integer(c_intptr_t) :: reserved(8) = 0
  end type

  type, bind(C) :: life_sweep_result
    real(c_double) :: density = 0
    real(c_double) :: activity = 0
    integer(c_int32_t) :: soups = 0
    integer(c_int32_t) :: extinct = 0
    integer(c_int32_t) :: settled = 0
    integer(c_int32_t) :: period = 0
  end type

  type, bind(C) :: matmul_options
    type(c_ptr) :: ctx = c_null_ptr
    integer(c_int) :: kind = 0
    integer(c_int) :: precision = 0
    integer(c_size_t) :: block = 0
    type(c_ptr) :: shape = c_null_ptr
    integer(c_size_t) :: memory = 0
    type(c_funptr) :: progress = c_null_funptr
    type(c_ptr) :: arg = c_null_ptr
    type(c_ptr) :: world = c_null_ptr
    integer(c_intptr_t) :: reserved(8) = 0
  end type

  type, bind(C) :: matmul_out_of_core
    type(c_funptr) :: read = c_null_funptr
    type(c_funptr) :: write = c_null_funptr
    type(c_ptr) :: arg = c_null_ptr
  end type

  type, bind(C) :: nbody_force_errors
    integer(c_size_t) :: bodies = 0
    real(c_double) :: median = 0
    real(c_double) :: p90 = 0
    real(c_double) :: p99 = 0
    real(c_double) :: p999 = 0
    real(c_double) :: most = 0
    integer(c_size_t) :: worst = 0
  end type

  type, bind(C) :: nbody_whfast_options
    integer(c_int) :: coordinates = 0
    integer(c_int) :: corrector = 0
    integer(c_int) :: safe = 0
    integer(c_intptr_t) :: reserved(8) = 0
  end type

  type, bind(C) :: nbody_trace_options
    real(c_double) :: hill = 0
    real(c_double) :: pericentre = 0
    integer(c_intptr_t) :: reserved(8) = 0
  end type

  type, bind(C) :: nbody_options
    type(c_ptr) :: ctx = c_null_ptr
    integer(c_int) :: integrator = 0
    integer(c_int) :: precision = 0
    integer(c_int) :: kernel = 0
    real(c_double) :: G = 0
    real(c_double) :: eps = 0
    real(c_double) :: dt = 0
    integer(c_size_t) :: burst = 0
    type(c_ptr) :: shares = c_null_ptr
    type(c_funptr) :: progress = c_null_funptr
    type(c_ptr) :: arg = c_null_ptr
    type(c_ptr) :: shape = c_null_ptr
    integer(c_int) :: method = 0
    real(c_double) :: accuracy = 0
    type(c_ptr) :: fields = c_null_ptr
    integer(c_size_t) :: nfields = 0
    type(c_ptr) :: softening = c_null_ptr
    integer(c_int) :: stepping = 0
    real(c_double) :: eta = 0
    type(c_ptr) :: world = c_null_ptr
    integer(c_int) :: place = 0
    type(nbody_whfast_options) :: whfast
    type(c_ptr) :: forces = c_null_ptr
    integer(c_int) :: megno = 0
    type(nbody_trace_options) :: trace
    integer(c_int) :: first_number = 0
    integer(c_size_t) :: first = 0
    integer(c_size_t) :: count = 0
    integer(c_intptr_t) :: reserved(8) = 0
  end type

  type, bind(C) :: nbody_diagnostics
    real(c_double) :: time = 0
    real(c_double) :: kinetic = 0
    real(c_double) :: potential = 0
    real(c_double) :: total = 0
    real(c_double) :: momentum(3) = 0
    real(c_double) :: angular_momentum(3) = 0
    real(c_double) :: virial_ratio = 0
  end type

  type, bind(C) :: nbody_ensemble_options
    type(c_ptr) :: ctx = c_null_ptr
    real(c_double) :: G = 0
    real(c_double) :: dt = 0
    integer(c_int) :: integrator = 0
    type(c_funptr) :: progress = c_null_funptr
    type(c_ptr) :: arg = c_null_ptr
    type(nbody_whfast_options) :: whfast
    integer(c_int) :: megno = 0
    integer(c_intptr_t) :: reserved(8) = 0
  end type

  type, bind(C) :: nbody_chaos
    real(c_double) :: megno = 0
    real(c_double) :: megno_now = 0
    real(c_double) :: lyapunov = 0
    real(c_double) :: time = 0
  end type

  type, bind(C) :: nbody_system
    integer(c_int) :: status = 0
    integer(c_size_t) :: bodies = 0
    real(c_double) :: time = 0
    real(c_double) :: energy_lost = 0
  end type

  type, bind(C) :: nbody_ensemble_watch_options
    real(c_double) :: stop_distance = 0
    type(c_ptr) :: radius = c_null_ptr
    integer(c_int) :: merge = 0
    integer(c_intptr_t) :: reserved(8) = 0
  end type

  type, bind(C) :: nbody_elements
    real(c_double) :: semi_major = 0
    real(c_double) :: eccentricity = 0
    real(c_double) :: inclination = 0
    real(c_double) :: node = 0
    real(c_double) :: pericentre = 0
    real(c_double) :: mean_anomaly = 0
    real(c_double) :: period = 0
  end type

  type, bind(C) :: nbody_shell
    real(c_double) :: fraction = 0
    real(c_double) :: radius = 0
    real(c_double) :: mean_mass = 0
    real(c_double) :: radial = 0
    real(c_double) :: tangential = 0
    real(c_double) :: anisotropy = 0
  end type

  type, bind(C) :: nbody_structure
    real(c_double) :: centre(3) = 0
    real(c_double) :: velocity(3) = 0
    real(c_double) :: core_radius = 0
    real(c_double) :: half_mass_radius = 0
    real(c_double) :: relaxation_time = 0
    integer(c_size_t) :: escapers = 0
    integer(c_size_t) :: binaries = 0
    type(c_ptr) :: binary = c_null_ptr
  end type

  type, bind(C) :: nbody_event_rule
    integer(c_int) :: kind = 0
    integer(c_size_t) :: body = 0
    integer(c_size_t) :: other = 0
    real(c_double) :: limit = 0
    integer(c_int) :: axis = 0
    integer(c_int) :: stop = 0
  end type

  type, bind(C) :: stdcl_embedded
    type(c_ptr) :: name = c_null_ptr
    type(c_ptr) :: data = c_null_ptr
    integer(c_size_t) :: size = 0
    type(c_ptr) :: next = c_null_ptr
  end type

  type, bind(C) :: stdcl_embedded_binary
    type(c_ptr) :: source = c_null_ptr
    type(c_ptr) :: device = c_null_ptr
    type(c_ptr) :: data = c_null_ptr
    integer(c_size_t) :: size = 0
    type(c_ptr) :: next = c_null_ptr
  end type

  type, bind(C) :: view_region
    integer(c_int64_t) :: x = 0
    integer(c_int64_t) :: y = 0
    integer(c_int32_t) :: width = 0
    integer(c_int32_t) :: height = 0
    integer(c_int32_t) :: zoom = 0
  end type

  type, bind(C) :: view_command
    integer(c_int) :: ask = 0
    real(c_double) :: value = 0
    type(view_region) :: region
    integer(c_int8_t) :: bits(VIEW_PUT_BYTES) = 0
    character(kind=c_char) :: rule(VIEW_RULE_BYTES) = c_null_char
  end type

  type, bind(C) :: view_bodies
    integer(c_size_t) :: total = 0
    type(c_ptr) :: mass = c_null_ptr
    type(c_ptr) :: group = c_null_ptr
    integer(c_int) :: moving = 0
    type(c_ptr) :: length = c_null_ptr
    type(c_ptr) :: speed = c_null_ptr
    type(c_ptr) :: weight = c_null_ptr
    real(c_double) :: gravity = 0
    type(c_ptr) :: names = c_null_ptr
  end type

  type, bind(C) :: view_field
    integer(c_int64_t) :: width = 0
    integer(c_int64_t) :: height = 0
    type(c_ptr) :: bounds = c_null_ptr
    type(c_ptr) :: rule = c_null_ptr
    integer(c_int) :: states = 0
    type(c_ptr) :: colours = c_null_ptr
  end type

  type, bind(C) :: view_histogram
    type(c_ptr) :: quantity = c_null_ptr
    type(c_ptr) :: unit = c_null_ptr
    type(c_ptr) :: counted = c_null_ptr
    type(c_ptr) :: model = c_null_ptr
  end type

  type, bind(C) :: view_table
    type(c_ptr) :: row = c_null_ptr
    type(c_ptr) :: column = c_null_ptr
    type(c_ptr) :: quantity = c_null_ptr
    type(c_ptr) :: unit = c_null_ptr
    type(c_ptr) :: rows = c_null_ptr
    type(c_ptr) :: columns = c_null_ptr
  end type

  type, bind(C) :: view_options
    type(c_ptr) :: program = c_null_ptr
    type(c_ptr) :: title = c_null_ptr
    type(c_ptr) :: address = c_null_ptr
    type(c_ptr) :: record = c_null_ptr
    real(c_double) :: rate = 0
    real(c_double) :: budget = 0
    integer(c_int) :: can = 0
    type(c_ptr) :: replay = c_null_ptr
    integer(c_int64_t) :: frames = 0
    real(c_double) :: from = 0
    real(c_double) :: to = 0
    type(c_ptr) :: step = c_null_ptr
    type(c_ptr) :: time = c_null_ptr
    type(c_ptr) :: time_unit = c_null_ptr
    real(c_double) :: step_time = 0
    type(c_ptr) :: facts = c_null_ptr
    type(view_bodies) :: points
    type(view_field) :: cells
    type(view_histogram) :: bars
    type(view_table) :: grid
    type(c_ptr) :: rows = c_null_ptr
    type(c_ptr) :: tokens = c_null_ptr
    integer(c_int) :: framed = 0
    integer(c_intptr_t) :: reserved(8) = 0
  end type

  type, bind(C) :: view_state
    integer(c_int) :: paused = 0
    real(c_double) :: speed = 0
    real(c_double) :: steps = 0
    real(c_double) :: fraction = 0
    integer(c_int64_t) :: frame = 0
  end type

  type, bind(C) :: view_moment
    real(c_double) :: time = 0
    integer(c_int64_t) :: step = 0
    integer(c_int) :: last = 0
  end type

  type, bind(C) :: view_cells
    type(view_region) :: region
    type(c_ptr) :: body = c_null_ptr
  end type

  type, bind(C) :: view_points
    type(view_moment) :: at
    integer(c_size_t) :: count = 0
    type(c_ptr) :: pos = c_null_ptr
    type(c_ptr) :: vel = c_null_ptr
    integer(c_size_t) :: instants = 0
    type(c_ptr) :: path_time = c_null_ptr
    type(c_ptr) :: path = c_null_ptr
  end type

  type, bind(C) :: view_profile
    type(c_ptr) :: title = c_null_ptr
    type(c_ptr) :: x = c_null_ptr
    type(c_ptr) :: unit = c_null_ptr
    integer(c_int) :: logarithmic = 0
    integer(c_size_t) :: bins = 0
    type(c_ptr) :: edge = c_null_ptr
    type(c_ptr) :: value = c_null_ptr
  end type

  type, bind(C) :: world_options
    type(c_funptr) :: on_abort = c_null_funptr
    type(c_ptr) :: arg = c_null_ptr
    integer(c_intptr_t) :: reserved(8) = 0
  end type

  interface
    function arrays_argmax(a, x, n, index) bind(C)
      import
      integer(c_int) :: arrays_argmax
      type(c_ptr), value :: a
      type(c_ptr), value :: x
      integer(c_size_t), value :: n
      integer(c_size_t), optional :: index(*)
    end function
    function arrays_argmin(a, x, n, index) bind(C)
      import
      integer(c_int) :: arrays_argmin
      type(c_ptr), value :: a
      type(c_ptr), value :: x
      integer(c_size_t), value :: n
      integer(c_size_t), optional :: index(*)
    end function
    function arrays_create(options) bind(C)
      import
      type(c_ptr) :: arrays_create
      type(arrays_options), intent(in), optional :: options
    end function
    function arrays_dot(a, x, y, n, dot) bind(C)
      import
      integer(c_int) :: arrays_dot
      type(c_ptr), value :: a
      type(c_ptr), value :: x
      type(c_ptr), value :: y
      integer(c_size_t), value :: n
      real(c_double), optional :: dot
    end function
    function arrays_dot_start(a, x, y, n, result) bind(C)
      import
      integer(c_int) :: arrays_dot_start
      type(c_ptr), value :: a
      type(c_ptr), value :: x
      type(c_ptr), value :: y
      integer(c_size_t), value :: n
      type(c_ptr), value :: result
    end function
    function arrays_explain(a, dev) bind(C)
      import
      type(c_ptr) :: arrays_explain
      type(c_ptr), value :: a
      integer(c_int32_t), value :: dev
    end function
    subroutine arrays_free(a) bind(C)
      import
      type(c_ptr), value :: a
    end subroutine
    function arrays_histogram(s, job) bind(C)
      import
      integer(c_int) :: arrays_histogram
      type(c_ptr), value :: s
      type(arrays_histogram_job), intent(in), optional :: job
    end function
    function arrays_histogram_start(s, job) bind(C)
      import
      integer(c_int) :: arrays_histogram_start
      type(c_ptr), value :: s
      type(arrays_histogram_job), intent(in), optional :: job
    end function
    function arrays_max(a, x, n, max) bind(C)
      import
      integer(c_int) :: arrays_max
      type(c_ptr), value :: a
      type(c_ptr), value :: x
      integer(c_size_t), value :: n
      real(c_double), optional :: max
    end function
    function arrays_max_start(a, x, n, result) bind(C)
      import
      integer(c_int) :: arrays_max_start
      type(c_ptr), value :: a
      type(c_ptr), value :: x
      integer(c_size_t), value :: n
      type(c_ptr), value :: result
    end function
    function arrays_mean(a, x, n, mean) bind(C)
      import
      integer(c_int) :: arrays_mean
      type(c_ptr), value :: a
      type(c_ptr), value :: x
      integer(c_size_t), value :: n
      real(c_double), optional :: mean
    end function
    function arrays_min(a, x, n, min) bind(C)
      import
      integer(c_int) :: arrays_min
      type(c_ptr), value :: a
      type(c_ptr), value :: x
      integer(c_size_t), value :: n
      real(c_double), optional :: min
    end function
    function arrays_min_start(a, x, n, result) bind(C)
      import
      integer(c_int) :: arrays_min_start
      type(c_ptr), value :: a
      type(c_ptr), value :: x
      integer(c_size_t), value :: n
      type(c_ptr), value :: result
    end function
    subroutine arrays_partition(a, n, dev, first, count) bind(C)
      import
      type(c_ptr), value :: a
      integer(c_size_t), value :: n
      integer(c_int32_t), value :: dev
      integer(c_size_t), optional :: first
      integer(c_size_t), optional :: count
    end subroutine
    function arrays_reduce_by_key(s, job) bind(C)
      import
      integer(c_int) :: arrays_reduce_by_key
      type(c_ptr), value :: s
      type(arrays_by_key_job), intent(in), optional :: job
    end function
    function arrays_reduce_by_key_start(s, job) bind(C)
      import
      integer(c_int) :: arrays_reduce_by_key_start
      type(c_ptr), value :: s
      type(arrays_by_key_job), intent(in), optional :: job
    end function
    function arrays_scan(s, job) bind(C)
      import
      integer(c_int) :: arrays_scan
      type(c_ptr), value :: s
      type(arrays_scan_job), intent(in), optional :: job
    end function
    function arrays_scan_start(s, job) bind(C)
      import
      integer(c_int) :: arrays_scan_start
      type(c_ptr), value :: s
      type(arrays_scan_job), intent(in), optional :: job
    end function
    function arrays_scan_workspace(s, job) bind(C)
      import
      integer(c_size_t) :: arrays_scan_workspace
      type(c_ptr), value :: s
      type(arrays_scan_job), intent(in), optional :: job
    end function
    function arrays_segmented_sum(s, job) bind(C)
      import
      integer(c_int) :: arrays_segmented_sum
      type(c_ptr), value :: s
      type(arrays_segments_job), intent(in), optional :: job
    end function
    function arrays_segmented_sum_start(s, job) bind(C)
      import
      integer(c_int) :: arrays_segmented_sum_start
      type(c_ptr), value :: s
      type(arrays_segments_job), intent(in), optional :: job
    end function
    function arrays_select(s, job) bind(C)
      import
      integer(c_int) :: arrays_select
      type(c_ptr), value :: s
      type(arrays_select_job), intent(in), optional :: job
    end function
    function arrays_select_start(s, job) bind(C)
      import
      integer(c_int) :: arrays_select_start
      type(c_ptr), value :: s
      type(arrays_select_job), intent(in), optional :: job
    end function
    function arrays_shape(a, dev) bind(C)
      import
      type(c_ptr) :: arrays_shape
      type(c_ptr), value :: a
      integer(c_int32_t), value :: dev
    end function
    function arrays_sort(s, job) bind(C)
      import
      integer(c_int) :: arrays_sort
      type(c_ptr), value :: s
      type(arrays_sort_job), intent(in), optional :: job
    end function
    function arrays_sort_start(s, job) bind(C)
      import
      integer(c_int) :: arrays_sort_start
      type(c_ptr), value :: s
      type(arrays_sort_job), intent(in), optional :: job
    end function
    function arrays_sort_workspace(s, job) bind(C)
      import
      integer(c_size_t) :: arrays_sort_workspace
      type(c_ptr), value :: s
      type(arrays_sort_job), intent(in), optional :: job
    end function
    function arrays_sorter_create(options) bind(C)
      import
      type(c_ptr) :: arrays_sorter_create
      type(arrays_sorter_options), intent(in), optional :: options
    end function
    function arrays_sorter_explain(s) bind(C)
      import
      type(c_ptr) :: arrays_sorter_explain
      type(c_ptr), value :: s
    end function
    subroutine arrays_sorter_free(s) bind(C)
      import
      type(c_ptr), value :: s
    end subroutine
    function arrays_sorter_shape(s) bind(C)
      import
      type(c_ptr) :: arrays_sorter_shape
      type(c_ptr), value :: s
    end function
    function arrays_sum(a, x, n, sum) bind(C)
      import
      integer(c_int) :: arrays_sum
      type(c_ptr), value :: a
      type(c_ptr), value :: x
      integer(c_size_t), value :: n
      real(c_double), optional :: sum
    end function
    function arrays_sum_integer(a, x, n, sum) bind(C)
      import
      integer(c_int) :: arrays_sum_integer
      type(c_ptr), value :: a
      type(c_ptr), value :: x
      integer(c_size_t), value :: n
      integer(c_int64_t), optional :: sum
    end function
    function arrays_sum_squares(a, x, y, z, n, squares) bind(C)
      import
      integer(c_int) :: arrays_sum_squares
      type(c_ptr), value :: a
      type(c_ptr), value :: x
      type(c_ptr), value :: y
      type(c_ptr), value :: z
      integer(c_size_t), value :: n
      real(c_double), optional :: squares
    end function
    function arrays_sum_start(a, x, n, result) bind(C)
      import
      integer(c_int) :: arrays_sum_start
      type(c_ptr), value :: a
      type(c_ptr), value :: x
      integer(c_size_t), value :: n
      type(c_ptr), value :: result
    end function
    function arrays_tune_kernels(count) bind(C)
      import
      type(c_ptr) :: arrays_tune_kernels
      integer(c_size_t), optional :: count
    end function
    function arrays_unique(s, job) bind(C)
      import
      integer(c_int) :: arrays_unique
      type(c_ptr), value :: s
      type(arrays_select_job), intent(in), optional :: job
    end function
    function arrays_unique_start(s, job) bind(C)
      import
      integer(c_int) :: arrays_unique_start
      type(c_ptr), value :: s
      type(arrays_select_job), intent(in), optional :: job
    end function
    function arrays_upload(a, x, n) bind(C)
      import
      integer(c_int) :: arrays_upload
      type(c_ptr), value :: a
      type(c_ptr), value :: x
      integer(c_size_t), value :: n
    end function
    function arrays_variance(a, x, n, mean, variance) bind(C)
      import
      integer(c_int) :: arrays_variance
      type(c_ptr), value :: a
      type(c_ptr), value :: x
      integer(c_size_t), value :: n
      real(c_double), optional :: mean
      real(c_double), optional :: variance
    end function
    function clarg_info(krn, i, info) bind(C)
      import
      integer(c_int) :: clarg_info
      type(c_ptr), value :: krn
      integer(c_int32_t), value :: i
      type(clarg_info_t), optional :: info
    end function
    function clarg_is_read_only(krn, i) bind(C)
      import
      integer(c_int) :: clarg_is_read_only
      type(c_ptr), value :: krn
      integer(c_int32_t), value :: i
    end function
    function clarg_set_global(cp, krn, i, ptr) bind(C)
      import
      integer(c_size_t) :: clarg_set_global
      type(c_ptr), value :: cp
      type(c_ptr), value :: krn
      integer(c_int32_t), value :: i
      type(c_ptr), value :: ptr
    end function
    function clbuild(cp, handle, options, flags) bind(C)
      import
      integer(c_int) :: clbuild
      type(c_ptr), value :: cp
      type(c_ptr), value :: handle
      character(kind=c_char), optional :: options(*)
      integer(c_int), value :: flags
    end function
    function clclose(cp, handle) bind(C)
      import
      integer(c_int) :: clclose
      type(c_ptr), value :: cp
      type(c_ptr), value :: handle
    end function
    function clcontext_adopt(context, n, queues) bind(C)
      import
      type(c_ptr) :: clcontext_adopt
      type(c_ptr), value :: context
      integer(c_size_t), value :: n
      type(c_ptr), intent(in), optional :: queues(*)
    end function
    function clcontext_create(platforms, devtype, ndevmax, ext, lock_key) bind(C)
      import
      type(c_ptr) :: clcontext_create
      character(kind=c_char), intent(in), optional :: platforms(*)
      integer(c_int), value :: devtype
      integer(c_size_t), value :: ndevmax
      integer(c_intptr_t), optional :: ext(*)
      integer(c_int), value :: lock_key
    end function
    function clcontext_create_from(devices, ndev) bind(C)
      import
      type(c_ptr) :: clcontext_create_from
      type(c_ptr), intent(in), optional :: devices(*)
      integer(c_size_t), value :: ndev
    end function
    function clcontext_create_stdnpu(platforms, devtype, ndevmax, ext, lock_key) bind(C)
      import
      type(c_ptr) :: clcontext_create_stdnpu
      character(kind=c_char), intent(in), optional :: platforms(*)
      integer(c_int), value :: devtype
      integer(c_size_t), value :: ndevmax
      integer(c_intptr_t), optional :: ext(*)
      integer(c_int), value :: lock_key
    end function
    function clcontext_destroy(cp) bind(C)
      import
      integer(c_int) :: clcontext_destroy
      type(c_ptr), value :: cp
    end function
    function clerror() bind(C)
      import
      type(c_ptr) :: clerror
    end function
    function clerror_str(code) bind(C)
      import
      type(c_ptr) :: clerror_str
      integer(c_int), value :: code
    end function
    function clexecv(cp, dev, ndr, flags, symbol, nargs, args) bind(C)
      import
      integer(c_intptr_t) :: clexecv
      type(c_ptr), value :: cp
      integer(c_int32_t), value :: dev
      type(clndrange_t), optional :: ndr
      integer(c_int), value :: flags
      character(kind=c_char), intent(in), optional :: symbol(*)
      integer(c_int32_t), value :: nargs
      type(stdcl_arg), intent(in), optional :: args(*)
    end function
    function clflush(cp, dev, flags) bind(C)
      import
      integer(c_int) :: clflush
      type(c_ptr), value :: cp
      integer(c_int32_t), value :: dev
      integer(c_int), value :: flags
    end function
    function clfork(cp, dev, krn, ndr, flags) bind(C)
      import
      integer(c_intptr_t) :: clfork
      type(c_ptr), value :: cp
      integer(c_int32_t), value :: dev
      type(c_ptr), value :: krn
      type(clndrange_t), optional :: ndr
      integer(c_int), value :: flags
    end function
    function clforkv(cp, dev, krn, ndr, flags, nargs, args) bind(C)
      import
      integer(c_intptr_t) :: clforkv
      type(c_ptr), value :: cp
      integer(c_int32_t), value :: dev
      type(c_ptr), value :: krn
      type(clndrange_t), optional :: ndr
      integer(c_int), value :: flags
      integer(c_int32_t), value :: nargs
      type(stdcl_arg), intent(in), optional :: args(*)
    end function
    function clfree(ptr) bind(C)
      import
      integer(c_int) :: clfree
      type(c_ptr), value :: ptr
    end function
    subroutine clfreport_devinfo(fp, ndev, info) bind(C)
      import
      type(c_ptr), value :: fp
      integer(c_size_t), value :: ndev
      type(cldev_info), optional :: info(*)
    end subroutine
    function clgetbuffer(cp, dev, ptr) bind(C)
      import
      type(c_ptr) :: clgetbuffer
      type(c_ptr), value :: cp
      integer(c_int32_t), value :: dev
      type(c_ptr), value :: ptr
    end function
    function clgetclcontext(cp, dev) bind(C)
      import
      type(c_ptr) :: clgetclcontext
      type(c_ptr), value :: cp
      integer(c_int32_t), value :: dev
    end function
    function clgetdevice(cp, dev) bind(C)
      import
      type(c_ptr) :: clgetdevice
      type(c_ptr), value :: cp
      integer(c_int32_t), value :: dev
    end function
    function clgetdevinfo(cp, info) bind(C)
      import
      integer(c_int) :: clgetdevinfo
      type(c_ptr), value :: cp
      type(cldev_info), optional :: info(*)
    end function
    function clgetndev(cp) bind(C)
      import
      integer(c_int32_t) :: clgetndev
      type(c_ptr), value :: cp
    end function
    function clgetqueue(cp, dev) bind(C)
      import
      type(c_ptr) :: clgetqueue
      type(c_ptr), value :: cp
      integer(c_int32_t), value :: dev
    end function
    function clglmalloc(cp, glbuf, target, level, flags) bind(C)
      import
      type(c_ptr) :: clglmalloc
      type(c_ptr), value :: cp
      integer(c_int32_t), value :: glbuf
      integer(c_int32_t), value :: target
      integer(c_int32_t), value :: level
      integer(c_int), value :: flags
    end function
    function clglmsync(cp, dev, ptr, flags) bind(C)
      import
      integer(c_intptr_t) :: clglmsync
      type(c_ptr), value :: cp
      integer(c_int32_t), value :: dev
      type(c_ptr), value :: ptr
      integer(c_int), value :: flags
    end function
    function clload(cp, ptr, size, flags) bind(C)
      import
      type(c_ptr) :: clload
      type(c_ptr), value :: cp
      type(c_ptr), value :: ptr
      integer(c_size_t), value :: size
      integer(c_int), value :: flags
    end function
    function clloadb(cp, n, bin, size, flags) bind(C)
      import
      type(c_ptr) :: clloadb
      type(c_ptr), value :: cp
      integer(c_int), value :: n
      type(c_ptr), optional :: bin(*)
      integer(c_size_t), optional :: size(*)
      integer(c_int), value :: flags
    end function
    function clmalloc(cp, size, flags) bind(C)
      import
      type(c_ptr) :: clmalloc
      type(c_ptr), value :: cp
      integer(c_size_t), value :: size
      integer(c_int), value :: flags
    end function
    function clmalloc_from(cp, ptr, size, flags) bind(C)
      import
      type(c_ptr) :: clmalloc_from
      type(c_ptr), value :: cp
      type(c_ptr), value :: ptr
      integer(c_size_t), value :: size
      integer(c_int), value :: flags
    end function
    function clmattach(cp, ptr) bind(C)
      import
      integer(c_int) :: clmattach
      type(c_ptr), value :: cp
      type(c_ptr), value :: ptr
    end function
    function clmcopy(cp, dev, src, dst, flags) bind(C)
      import
      integer(c_intptr_t) :: clmcopy
      type(c_ptr), value :: cp
      integer(c_int32_t), value :: dev
      type(c_ptr), value :: src
      type(c_ptr), value :: dst
      integer(c_int), value :: flags
    end function
    function clmdetach(ptr) bind(C)
      import
      integer(c_int) :: clmdetach
      type(c_ptr), value :: ptr
    end function
    function clmem_adopt(cp, dev, buffer) bind(C)
      import
      type(c_ptr) :: clmem_adopt
      type(c_ptr), value :: cp
      integer(c_int32_t), value :: dev
      type(c_ptr), value :: buffer
    end function
    function clmemptr(cp, ptr) bind(C)
      import
      type(c_ptr) :: clmemptr
      type(c_ptr), value :: cp
      type(c_ptr), value :: ptr
    end function
    function clmrealloc(cp, ptr, size, flags) bind(C)
      import
      type(c_ptr) :: clmrealloc
      type(c_ptr), value :: cp
      type(c_ptr), value :: ptr
      integer(c_size_t), value :: size
      integer(c_int), value :: flags
    end function
    function clmrequire(cp, dev, ptr, call) bind(C)
      import
      integer(c_int) :: clmrequire
      type(c_ptr), value :: cp
      integer(c_int32_t), value :: dev
      type(c_ptr), value :: ptr
      character(kind=c_char), intent(in), optional :: call(*)
    end function
    function clmsync(cp, dev, ptr, flags) bind(C)
      import
      integer(c_intptr_t) :: clmsync
      type(c_ptr), value :: cp
      integer(c_int32_t), value :: dev
      type(c_ptr), value :: ptr
      integer(c_int), value :: flags
    end function
    function clmsyncn(cp, dev, ptr, size, flags) bind(C)
      import
      integer(c_intptr_t) :: clmsyncn
      type(c_ptr), value :: cp
      integer(c_int32_t), value :: dev
      type(c_ptr), value :: ptr
      integer(c_size_t), value :: size
      integer(c_int), value :: flags
    end function
    function clopen(cp, file, flags) bind(C)
      import
      type(c_ptr) :: clopen
      type(c_ptr), value :: cp
      character(kind=c_char), intent(in), optional :: file(*)
      integer(c_int), value :: flags
    end function
    function clopen_named(cp, name, source, size, options, flags) bind(C)
      import
      type(c_ptr) :: clopen_named
      type(c_ptr), value :: cp
      character(kind=c_char), intent(in), optional :: name(*)
      character(kind=c_char), intent(in), optional :: source(*)
      integer(c_size_t), value :: size
      character(kind=c_char), intent(in), optional :: options(*)
      integer(c_int), value :: flags
    end function
    function clopen_templatev(cp, name, text, size, options, flags, values) bind(C)
      import
      type(c_ptr) :: clopen_templatev
      type(c_ptr), value :: cp
      character(kind=c_char), intent(in), optional :: name(*)
      character(kind=c_char), intent(in), optional :: text(*)
      integer(c_size_t), value :: size
      character(kind=c_char), intent(in), optional :: options(*)
      integer(c_int), value :: flags
      type(clvalue_t), intent(in), optional :: values(*)
    end function
    function clopentv(cp, file, flags, values) bind(C)
      import
      type(c_ptr) :: clopentv
      type(c_ptr), value :: cp
      character(kind=c_char), intent(in), optional :: file(*)
      integer(c_int), value :: flags
      type(clvalue_t), intent(in), optional :: values(*)
    end function
    function clpeak(cp, dev, peak) bind(C)
      import
      integer(c_int) :: clpeak
      type(c_ptr), value :: cp
      integer(c_int32_t), value :: dev
      type(clpeak_info), optional :: peak
    end function
    function clpeak_flops(cp, dev, precision) bind(C)
      import
      real(c_double) :: clpeak_flops
      type(c_ptr), value :: cp
      integer(c_int32_t), value :: dev
      integer(c_int), value :: precision
    end function
    subroutine clperror(prefix) bind(C)
      import
      character(kind=c_char), intent(in), optional :: prefix(*)
    end subroutine
    function clprofile(cp, on) bind(C)
      import
      integer(c_int) :: clprofile
      type(c_ptr), value :: cp
      integer(c_int), value :: on
    end function
    subroutine clprofile_begin(cp, name) bind(C)
      import
      type(c_ptr), value :: cp
      character(kind=c_char), intent(in), optional :: name(*)
    end subroutine
    subroutine clprofile_end(cp) bind(C)
      import
      type(c_ptr), value :: cp
    end subroutine
    function clprofile_report(cp, fp, format) bind(C)
      import
      integer(c_int) :: clprofile_report
      type(c_ptr), value :: cp
      type(c_ptr), value :: fp
      integer(c_int), value :: format
    end function
    function clprofile_reset(cp) bind(C)
      import
      integer(c_int) :: clprofile_reset
      type(c_ptr), value :: cp
    end function
    function clprofile_rows(cp, rows, room) bind(C)
      import
      integer(c_size_t) :: clprofile_rows
      type(c_ptr), value :: cp
      type(clprofile_row), optional :: rows(*)
      integer(c_size_t), value :: room
    end function
    function clprofile_trace(cp, file) bind(C)
      import
      integer(c_int) :: clprofile_trace
      type(c_ptr), value :: cp
      character(kind=c_char), intent(in), optional :: file(*)
    end function
    function clprofile_work(krn, flops, bytes, precision) bind(C)
      import
      integer(c_int) :: clprofile_work
      type(c_ptr), value :: krn
      real(c_double), value :: flops
      real(c_double), value :: bytes
      integer(c_int), value :: precision
    end function
    function clrecord_begin(cp, dev) bind(C)
      import
      integer(c_int) :: clrecord_begin
      type(c_ptr), value :: cp
      integer(c_int32_t), value :: dev
    end function
    function clrecord_end(cp, dev) bind(C)
      import
      type(c_ptr) :: clrecord_end
      type(c_ptr), value :: cp
      integer(c_int32_t), value :: dev
    end function
    function clrecord_free(cp, recording) bind(C)
      import
      integer(c_int) :: clrecord_free
      type(c_ptr), value :: cp
      type(c_ptr), value :: recording
    end function
    function clrecord_next(cp, dev) bind(C)
      import
      integer(c_int) :: clrecord_next
      type(c_ptr), value :: cp
      integer(c_int32_t), value :: dev
    end function
    function clrecord_replay(cp, recording, flags) bind(C)
      import
      integer(c_intptr_t) :: clrecord_replay
      type(c_ptr), value :: cp
      type(c_ptr), value :: recording
      integer(c_int), value :: flags
    end function
    function clrecord_setv(cp, recording, command, i, arg) bind(C)
      import
      integer(c_int) :: clrecord_setv
      type(c_ptr), value :: cp
      type(c_ptr), value :: recording
      integer(c_int32_t), value :: command
      integer(c_int32_t), value :: i
      type(stdcl_arg), intent(in), optional :: arg
    end function
    function clsave(cp, handle, dev, file) bind(C)
      import
      integer(c_int) :: clsave
      type(c_ptr), value :: cp
      type(c_ptr), value :: handle
      integer(c_int32_t), value :: dev
      character(kind=c_char), intent(in), optional :: file(*)
    end function
    function clsizeofmem(ptr) bind(C)
      import
      integer(c_size_t) :: clsizeofmem
      type(c_ptr), value :: ptr
    end function
    function clsopen(cp, source, flags) bind(C)
      import
      type(c_ptr) :: clsopen
      type(c_ptr), value :: cp
      character(kind=c_char), intent(in), optional :: source(*)
      integer(c_int), value :: flags
    end function
    function clspec(cp, handle, id, size, value) bind(C)
      import
      integer(c_int) :: clspec
      type(c_ptr), value :: cp
      type(c_ptr), value :: handle
      integer(c_int32_t), value :: id
      integer(c_size_t), value :: size
      type(c_ptr), value :: value
    end function
    function clstat(cp, info) bind(C)
      import
      integer(c_int) :: clstat
      type(c_ptr), value :: cp
      type(clstat_info), optional :: info
    end function
    function clsym(cp, handle, name, flags) bind(C)
      import
      type(c_ptr) :: clsym
      type(c_ptr), value :: cp
      type(c_ptr), value :: handle
      character(kind=c_char), intent(in), optional :: name(*)
      integer(c_int), value :: flags
    end function
    function cltemplatev(name, text, size, values) bind(C)
      import
      type(c_ptr) :: cltemplatev
      character(kind=c_char), intent(in), optional :: name(*)
      character(kind=c_char), intent(in), optional :: text(*)
      integer(c_size_t), value :: size
      type(clvalue_t), intent(in), optional :: values(*)
    end function
    function cltune_choose(rules, cp, dev, kernel, size, words, shape, row) bind(C)
      import
      integer(c_int) :: cltune_choose
      type(cltune_rules), intent(in), optional :: rules
      type(c_ptr), value :: cp
      integer(c_int32_t), value :: dev
      character(kind=c_char), intent(in), optional :: kernel(*)
      integer(c_size_t), value :: size
      character(kind=c_char), intent(in), optional :: words(*)
      type(c_ptr), value :: shape
      type(cltune_row), optional :: row
    end function
    function cltune_file() bind(C)
      import
      type(c_ptr) :: cltune_file
    end function
    function cltune_find(cp, dev, kernel, size, row) bind(C)
      import
      integer(c_int) :: cltune_find
      type(c_ptr), value :: cp
      integer(c_int32_t), value :: dev
      character(kind=c_char), intent(in), optional :: kernel(*)
      integer(c_size_t), value :: size
      type(cltune_row), optional :: row
    end function
    function cltune_fits(cp, dev, device) bind(C)
      import
      integer(c_int) :: cltune_fits
      type(c_ptr), value :: cp
      integer(c_int32_t), value :: dev
      character(kind=c_char), intent(in), optional :: device(*)
    end function
    subroutine cltune_print(rules, shape, text, size) bind(C)
      import
      type(cltune_rules), intent(in), optional :: rules
      type(c_ptr), value :: shape
      character(kind=c_char), optional :: text(*)
      integer(c_size_t), value :: size
    end subroutine
    function cltune_rows(cp, dev, kernel, rows, sizes, most) bind(C)
      import
      integer(c_int) :: cltune_rows
      type(c_ptr), value :: cp
      integer(c_int32_t), value :: dev
      character(kind=c_char), intent(in), optional :: kernel(*)
      type(cltune_row), optional :: rows
      integer(c_size_t), optional :: sizes(*)
      integer(c_size_t), value :: most
    end function
    function cltune_search(kernel, cp, dev, size, budget, seed, progress, arg, row, rate) bind(C)
      import
      integer(c_int) :: cltune_search
      type(cltune_kernel), intent(in), optional :: kernel
      type(c_ptr), value :: cp
      integer(c_int32_t), value :: dev
      integer(c_size_t), value :: size
      real(c_double), value :: budget
      integer(c_long), value :: seed
      type(c_funptr), value :: progress
      type(c_ptr), value :: arg
      type(cltune_row), optional :: row
      real(c_double), optional :: rate
    end function
    function cltune_store(cp, dev, kernel, size, shape, rate, unit) bind(C)
      import
      integer(c_int) :: cltune_store
      type(c_ptr), value :: cp
      integer(c_int32_t), value :: dev
      character(kind=c_char), intent(in), optional :: kernel(*)
      integer(c_size_t), value :: size
      character(kind=c_char), intent(in), optional :: shape(*)
      real(c_double), value :: rate
      character(kind=c_char), intent(in), optional :: unit(*)
    end function
    function cltune_time(run, problem, seconds) bind(C)
      import
      integer(c_int) :: cltune_time
      type(c_funptr), value :: run
      type(c_ptr), value :: problem
      real(c_double), optional :: seconds
    end function
    function cltune_value(shape, key, missing) bind(C)
      import
      integer(c_long) :: cltune_value
      character(kind=c_char), intent(in), optional :: shape(*)
      character(kind=c_char), intent(in), optional :: key(*)
      integer(c_long), value :: missing
    end function
    function cltune_warning() bind(C)
      import
      type(c_ptr) :: cltune_warning
    end function
    function clwait(cp, dev, flags) bind(C)
      import
      integer(c_intptr_t) :: clwait
      type(c_ptr), value :: cp
      integer(c_int32_t), value :: dev
      integer(c_int), value :: flags
    end function
    function clwaitev(cp, dev, ev, flags) bind(C)
      import
      integer(c_intptr_t) :: clwaitev
      type(c_ptr), value :: cp
      integer(c_int32_t), value :: dev
      integer(c_intptr_t), value :: ev
      integer(c_int), value :: flags
    end function
    function gas_bytes(g) bind(C)
      import
      real(c_double) :: gas_bytes
      type(c_ptr), value :: g
    end function
    function gas_create(options) bind(C)
      import
      type(c_ptr) :: gas_create
      type(gas_options), intent(in), optional :: options
    end function
    function gas_explain(g, dev) bind(C)
      import
      type(c_ptr) :: gas_explain
      type(c_ptr), value :: g
      integer(c_int32_t), value :: dev
    end function
    subroutine gas_free(g) bind(C)
      import
      type(c_ptr), value :: g
    end subroutine
    function gas_histogram(g, top, bins, count) bind(C)
      import
      integer(c_int) :: gas_histogram
      type(c_ptr), value :: g
      real(c_double), value :: top
      integer(c_int), value :: bins
      integer(c_int64_t), optional :: count(*)
    end function
    function gas_measure(g, energy) bind(C)
      import
      integer(c_int) :: gas_measure
      type(c_ptr), value :: g
      type(gas_energy), optional :: energy
    end function
    function gas_molecules(g) bind(C)
      import
      integer(c_int64_t) :: gas_molecules
      type(c_ptr), value :: g
    end function
    subroutine gas_partition(world, rank, n, first, count) bind(C)
      import
      type(c_ptr), value :: world
      integer(c_int), value :: rank
      integer(c_int64_t), value :: n
      integer(c_int64_t), optional :: first(*)
      integer(c_int64_t), optional :: count(*)
    end subroutine
    function gas_pressure(n, mean_energy, volume) bind(C)
      import
      real(c_double) :: gas_pressure
      integer(c_int64_t), value :: n
      real(c_double), value :: mean_energy
      real(c_double), value :: volume
    end function
    function gas_set_velocities(g, velocity) bind(C)
      import
      integer(c_int) :: gas_set_velocities
      type(c_ptr), value :: g
      real(c_double), intent(in), optional :: velocity(3, *)
    end function
    function gas_set_velocities_single(g, velocity) bind(C)
      import
      integer(c_int) :: gas_set_velocities_single
      type(c_ptr), value :: g
      real(c_float), intent(in), optional :: velocity(3, *)
    end function
    function gas_shape(g, dev) bind(C)
      import
      type(c_ptr) :: gas_shape
      type(c_ptr), value :: g
      integer(c_int32_t), value :: dev
    end function
    function gas_species_list() bind(C)
      import
      type(c_ptr) :: gas_species_list
    end function
    function gas_speed_cdf(speed, temperature, mass, boltzmann) bind(C)
      import
      real(c_double) :: gas_speed_cdf
      real(c_double), value :: speed
      real(c_double), value :: temperature
      real(c_double), value :: mass
      real(c_double), value :: boltzmann
    end function
    function gas_tune_kernels(count) bind(C)
      import
      type(c_ptr) :: gas_tune_kernels
      integer(c_size_t), optional :: count
    end function
    function gas_velocities(g, first, count, velocity) bind(C)
      import
      integer(c_int) :: gas_velocities
      type(c_ptr), value :: g
      integer(c_int64_t), value :: first
      integer(c_size_t), value :: count
      real(c_double), optional :: velocity(3, *)
    end function
    function life_bounding_box(lf, box) bind(C)
      import
      integer(c_int) :: life_bounding_box
      type(c_ptr), value :: lf
      type(life_box), optional :: box
    end function
    function life_bounds_of(lf) bind(C)
      import
      integer(c_int) :: life_bounds_of
      type(c_ptr), value :: lf
    end function
    function life_bounds_split(text, bounds, width, height) bind(C)
      import
      integer(c_int) :: life_bounds_split
      character(kind=c_char), optional :: text(*)
      integer(c_int), optional :: bounds
      integer(c_size_t), optional :: width
      integer(c_size_t), optional :: height
    end function
    function life_cells_alloc(cells, width, height) bind(C)
      import
      integer(c_int) :: life_cells_alloc
      type(life_cells), optional :: cells
      integer(c_size_t), value :: width
      integer(c_size_t), value :: height
    end function
    subroutine life_cells_free(cells) bind(C)
      import
      type(life_cells), optional :: cells
    end subroutine
    function life_census_create(options) bind(C)
      import
      type(c_ptr) :: life_census_create
      type(life_census_options), intent(in), optional :: options
    end function
    subroutine life_census_free(census) bind(C)
      import
      type(c_ptr), value :: census
    end subroutine
    function life_census_objects(census, n) bind(C)
      import
      type(c_ptr) :: life_census_objects
      type(c_ptr), value :: census
      integer(c_size_t), optional :: n(*)
    end function
    function life_census_run(census, soups) bind(C)
      import
      integer(c_int) :: life_census_run
      type(c_ptr), value :: census
      integer(c_int64_t), value :: soups
    end function
    subroutine life_census_total(census, sums) bind(C)
      import
      type(c_ptr), value :: census
      type(life_census_totals), optional :: sums
    end subroutine
    function life_choice(lf) bind(C)
      import
      type(c_ptr) :: life_choice
      type(c_ptr), value :: lf
    end function
    function life_choose(options, why) bind(C)
      import
      integer(c_int) :: life_choose
      type(life_options), intent(in), optional :: options
      type(c_ptr), optional :: why(*)
    end function
    function life_clear(lf) bind(C)
      import
      integer(c_int) :: life_clear
      type(c_ptr), value :: lf
    end function
    function life_create(options) bind(C)
      import
      type(c_ptr) :: life_create
      type(life_options), intent(in), optional :: options
    end function
    function life_density(lf, x, y, width, height, zoom, count) bind(C)
      import
      integer(c_int) :: life_density
      type(c_ptr), value :: lf
      integer(c_long_long), value :: x
      integer(c_long_long), value :: y
      integer(c_size_t), value :: width
      integer(c_size_t), value :: height
      integer(c_int), value :: zoom
      integer(c_int64_t), optional :: count(*)
    end function
    function life_device_bytes(lf) bind(C)
      import
      integer(c_size_t) :: life_device_bytes
      type(c_ptr), value :: lf
    end function
    function life_devices(lf) bind(C)
      import
      integer(c_int) :: life_devices
      type(c_ptr), value :: lf
    end function
    function life_engine_by_name(name) bind(C)
      import
      integer(c_int) :: life_engine_by_name
      character(kind=c_char), intent(in), optional :: name(*)
    end function
    function life_engine_name(engine) bind(C)
      import
      type(c_ptr) :: life_engine_name
      integer(c_int), value :: engine
    end function
    function life_engine_of(lf) bind(C)
      import
      integer(c_int) :: life_engine_of
      type(c_ptr), value :: lf
    end function
    function life_explain(lf, dev) bind(C)
      import
      type(c_ptr) :: life_explain
      type(c_ptr), value :: lf
      integer(c_int), value :: dev
    end function
    subroutine life_free(lf) bind(C)
      import
      type(c_ptr), value :: lf
    end subroutine
    function life_generation(lf) bind(C)
      import
      integer(c_int64_t) :: life_generation
      type(c_ptr), value :: lf
    end function
    function life_get(lf, x, y, cells) bind(C)
      import
      integer(c_int) :: life_get
      type(c_ptr), value :: lf
      integer(c_long_long), value :: x
      integer(c_long_long), value :: y
      type(life_cells), optional :: cells
    end function
    function life_get_list(lf) bind(C)
      import
      type(c_ptr) :: life_get_list
      type(c_ptr), value :: lf
    end function
    function life_get_states(lf, x, y, width, height, state) bind(C)
      import
      integer(c_int) :: life_get_states
      type(c_ptr), value :: lf
      integer(c_long_long), value :: x
      integer(c_long_long), value :: y
      integer(c_size_t), value :: width
      integer(c_size_t), value :: height
      integer(c_signed_char), optional :: state(*)
    end function
    function life_get_zoomed(lf, zoom, x, y, cells) bind(C)
      import
      integer(c_int) :: life_get_zoomed
      type(c_ptr), value :: lf
      integer(c_int), value :: zoom
      integer(c_long_long), value :: x
      integer(c_long_long), value :: y
      type(life_cells), optional :: cells
    end function
    function life_grid_split(text, grid, bounds, width, height) bind(C)
      import
      integer(c_int) :: life_grid_split
      character(kind=c_char), optional :: text(*)
      character(kind=c_char), optional :: grid(*)
      integer(c_int), optional :: bounds(*)
      integer(c_size_t), optional :: width(*)
      integer(c_size_t), optional :: height(*)
    end function
    function life_grid_text(lf, text) bind(C)
      import
      type(c_ptr) :: life_grid_text
      type(c_ptr), value :: lf
      character(kind=c_char), optional :: text(*)
    end function
    function life_height(lf) bind(C)
      import
      integer(c_size_t) :: life_height
      type(c_ptr), value :: lf
    end function
    function life_identify(lf, limit) bind(C)
      import
      type(c_ptr) :: life_identify
      type(c_ptr), value :: lf
      integer(c_int64_t), value :: limit
    end function
    function life_identify_cells(rule, cells, others) bind(C)
      import
      type(c_ptr) :: life_identify_cells
      character(kind=c_char), intent(in), optional :: rule(*)
      type(life_cells), intent(in), optional :: cells
      integer(c_int64_t), optional :: others(*)
    end function
    subroutine life_identity_free(identity) bind(C)
      import
      type(life_identity), optional :: identity
    end subroutine
    function life_kind_name(kind) bind(C)
      import
      type(c_ptr) :: life_kind_name
      integer(c_int), value :: kind
    end function
    function life_launches(lf) bind(C)
      import
      integer(c_int64_t) :: life_launches
      type(c_ptr), value :: lf
    end function
    function life_list_box(list, corner, width, height) bind(C)
      import
      integer(c_int) :: life_list_box
      type(c_ptr), value :: list
      type(life_cell), optional :: corner
      integer(c_int64_t), optional :: width(*)
      integer(c_int64_t), optional :: height(*)
    end function
    function life_list_cells(list) bind(C)
      import
      type(c_ptr) :: life_list_cells
      type(c_ptr), value :: list
    end function
    function life_list_clip(list, x, y, width, height) bind(C)
      import
      type(c_ptr) :: life_list_clip
      type(c_ptr), value :: list
      integer(c_long_long), value :: x
      integer(c_long_long), value :: y
      integer(c_int64_t), value :: width
      integer(c_int64_t), value :: height
    end function
    function life_list_combine(a, b, operation) bind(C)
      import
      type(c_ptr) :: life_list_combine
      type(c_ptr), value :: a
      type(c_ptr), value :: b
      integer(c_int), value :: operation
    end function
    function life_list_count(list) bind(C)
      import
      integer(c_size_t) :: life_list_count
      type(c_ptr), value :: list
    end function
    function life_list_create(cell, n) bind(C)
      import
      type(c_ptr) :: life_list_create
      type(life_cell), intent(in), optional :: cell
      integer(c_size_t), value :: n
    end function
    function life_list_equal(a, b) bind(C)
      import
      integer(c_int) :: life_list_equal
      type(c_ptr), value :: a
      type(c_ptr), value :: b
    end function
    subroutine life_list_free(list) bind(C)
      import
      type(c_ptr), value :: list
    end subroutine
    function life_list_halo(list) bind(C)
      import
      type(c_ptr) :: life_list_halo
      type(c_ptr), value :: list
    end function
    function life_list_match(list, live, dead) bind(C)
      import
      type(c_ptr) :: life_list_match
      type(c_ptr), value :: list
      type(c_ptr), value :: live
      type(c_ptr), value :: dead
    end function
    function life_list_read_rle(text) bind(C)
      import
      type(c_ptr) :: life_list_read_rle
      character(kind=c_char), intent(in), optional :: text(*)
    end function
    function life_list_rle(list, rule, text, size) bind(C)
      import
      integer(c_size_t) :: life_list_rle
      type(c_ptr), value :: list
      character(kind=c_char), intent(in), optional :: rule(*)
      character(kind=c_char), optional :: text(*)
      integer(c_size_t), value :: size
    end function
    function life_list_shift(list, dx, dy) bind(C)
      import
      type(c_ptr) :: life_list_shift
      type(c_ptr), value :: list
      integer(c_long_long), value :: dx
      integer(c_long_long), value :: dy
    end function
    function life_list_turn(list, turn) bind(C)
      import
      type(c_ptr) :: life_list_turn
      type(c_ptr), value :: list
      integer(c_int), value :: turn
    end function
    function life_measure(lf, sample) bind(C)
      import
      integer(c_int) :: life_measure
      type(c_ptr), value :: lf
      type(life_sample), optional :: sample
    end function
    function life_neighbourhood_range(lf) bind(C)
      import
      integer(c_int) :: life_neighbourhood_range
      type(c_ptr), value :: lf
    end function
    function life_number_double(number) bind(C)
      import
      real(c_double) :: life_number_double
      type(life_number), value :: number
    end function
    function life_number_string(number, text) bind(C)
      import
      type(c_ptr) :: life_number_string
      type(life_number), value :: number
      character(kind=c_char), optional :: text(*)
    end function
    function life_population(lf, population) bind(C)
      import
      integer(c_int) :: life_population
      type(c_ptr), value :: lf
      integer(c_int64_t), optional :: population
    end function
    function life_population_exact(lf, population) bind(C)
      import
      integer(c_int) :: life_population_exact
      type(c_ptr), value :: lf
      type(life_number), optional :: population
    end function
    function life_population_text(lf, text) bind(C)
      import
      integer(c_int) :: life_population_text
      type(c_ptr), value :: lf
      character(kind=c_char), optional :: text(*)
    end function
    function life_put(lf, x, y, cells) bind(C)
      import
      integer(c_int) :: life_put
      type(c_ptr), value :: lf
      integer(c_long_long), value :: x
      integer(c_long_long), value :: y
      type(life_cells), intent(in), optional :: cells
    end function
    function life_put_list(lf, list) bind(C)
      import
      integer(c_int) :: life_put_list
      type(c_ptr), value :: lf
      type(c_ptr), value :: list
    end function
    function life_put_states(lf, x, y, width, height, state) bind(C)
      import
      integer(c_int) :: life_put_states
      type(c_ptr), value :: lf
      integer(c_long_long), value :: x
      integer(c_long_long), value :: y
      integer(c_size_t), value :: width
      integer(c_size_t), value :: height
      integer(c_signed_char), intent(in), optional :: state(*)
    end function
    function life_rows(lf) bind(C)
      import
      integer(c_size_t) :: life_rows
      type(c_ptr), value :: lf
    end function
    function life_rule_name(i, rule) bind(C)
      import
      type(c_ptr) :: life_rule_name
      integer(c_size_t), value :: i
      type(life_rule), optional :: rule
    end function
    function life_rule_normal(text, normal) bind(C)
      import
      integer(c_int) :: life_rule_normal
      character(kind=c_char), intent(in), optional :: text(*)
      character(kind=c_char), optional :: normal(*)
    end function
    function life_rule_of(lf) bind(C)
      import
      type(life_rule) :: life_rule_of
      type(c_ptr), value :: lf
    end function
    function life_rule_parse(text, rule) bind(C)
      import
      integer(c_int) :: life_rule_parse
      character(kind=c_char), intent(in), optional :: text(*)
      type(life_rule), optional :: rule
    end function
    function life_rule_range(text) bind(C)
      import
      integer(c_int) :: life_rule_range
      character(kind=c_char), intent(in), optional :: text(*)
    end function
    function life_rule_states(text) bind(C)
      import
      integer(c_int) :: life_rule_states
      character(kind=c_char), intent(in), optional :: text(*)
    end function
    function life_rule_string(rule, text) bind(C)
      import
      type(c_ptr) :: life_rule_string
      type(life_rule), intent(in), optional :: rule
      character(kind=c_char), optional :: text(*)
    end function
    function life_rule_text(lf) bind(C)
      import
      type(c_ptr) :: life_rule_text
      type(c_ptr), value :: lf
    end function
    function life_set_generation(lf, generation) bind(C)
      import
      integer(c_int) :: life_set_generation
      type(c_ptr), value :: lf
      integer(c_int64_t), value :: generation
    end function
    function life_set_weight(lf, weight) bind(C)
      import
      integer(c_int) :: life_set_weight
      type(c_ptr), value :: lf
      real(c_double), value :: weight
    end function
    function life_shape(lf, dev) bind(C)
      import
      type(c_ptr) :: life_shape
      type(c_ptr), value :: lf
      integer(c_int), value :: dev
    end function
    function life_soup(lf, density, seed) bind(C)
      import
      integer(c_int) :: life_soup
      type(c_ptr), value :: lf
      real(c_double), value :: density
      integer(c_int64_t), value :: seed
    end function
    function life_states(lf) bind(C)
      import
      integer(c_int) :: life_states
      type(c_ptr), value :: lf
    end function
    function life_statistics_of(lf) bind(C)
      import
      type(life_statistics) :: life_statistics_of
      type(c_ptr), value :: lf
    end function
    function life_step(lf, generations) bind(C)
      import
      integer(c_int) :: life_step
      type(c_ptr), value :: lf
      integer(c_int64_t), value :: generations
    end function
    function life_sweep(options, rule, n, result) bind(C)
      import
      integer(c_int) :: life_sweep
      type(life_sweep_options), intent(in), optional :: options
      type(c_ptr), intent(in), optional :: rule(*)
      integer(c_size_t), value :: n
      type(life_sweep_result), optional :: result
    end function
    function life_sweep_class(result) bind(C)
      import
      type(c_ptr) :: life_sweep_class
      type(life_sweep_result), intent(in), optional :: result
    end function
    function life_trace(lf, n, sample) bind(C)
      import
      integer(c_int) :: life_trace
      type(c_ptr), value :: lf
      integer(c_size_t), value :: n
      type(life_sample), optional :: sample(*)
    end function
    function life_transitions_colour(transitions, state) bind(C)
      import
      type(c_ptr) :: life_transitions_colour
      type(c_ptr), value :: transitions
      integer(c_int), value :: state
    end function
    subroutine life_transitions_free(transitions) bind(C)
      import
      type(c_ptr), value :: transitions
    end subroutine
    function life_transitions_name(transitions) bind(C)
      import
      type(c_ptr) :: life_transitions_name
      type(c_ptr), value :: transitions
    end function
    function life_transitions_named(text) bind(C)
      import
      type(c_ptr) :: life_transitions_named
      character(kind=c_char), intent(in), optional :: text(*)
    end function
    function life_transitions_read(name, data, size) bind(C)
      import
      type(c_ptr) :: life_transitions_read
      character(kind=c_char), intent(in), optional :: name(*)
      type(c_ptr), value :: data
      integer(c_size_t), value :: size
    end function
    function life_transitions_states(transitions) bind(C)
      import
      integer(c_int) :: life_transitions_states
      type(c_ptr), value :: transitions
    end function
    function life_tree_add_bits(lf, cells, square) bind(C)
      import
      integer(c_int) :: life_tree_add_bits
      type(c_ptr), value :: lf
      integer(c_int64_t), value :: cells
      integer(c_int32_t), optional :: square(*)
    end function
    function life_tree_add_square(lf, level, part, square) bind(C)
      import
      integer(c_int) :: life_tree_add_square
      type(c_ptr), value :: lf
      integer(c_int), value :: level
      integer(c_int32_t), intent(in), optional :: part(*)
      integer(c_int32_t), optional :: square(*)
    end function
    function life_tree_add_states(lf, state, square) bind(C)
      import
      integer(c_int) :: life_tree_add_states
      type(c_ptr), value :: lf
      integer(c_signed_char), intent(in), optional :: state(*)
      integer(c_int32_t), optional :: square(*)
    end function
    function life_tree_set(lf, square, generation) bind(C)
      import
      integer(c_int) :: life_tree_set
      type(c_ptr), value :: lf
      integer(c_int32_t), value :: square
      integer(c_int64_t), value :: generation
    end function
    function life_tree_walk(lf, level, bits, states, square, arg) bind(C)
      import
      integer(c_int) :: life_tree_walk
      type(c_ptr), value :: lf
      integer(c_int), optional :: level(*)
      type(c_funptr), value :: bits
      type(c_funptr), value :: states
      type(c_funptr), value :: square
      type(c_ptr), value :: arg
    end function
    function life_tune_kernels(count) bind(C)
      import
      type(c_ptr) :: life_tune_kernels
      integer(c_size_t), optional :: count
    end function
    function life_until_stable(lf, limit, period, generation, watch, arg) bind(C)
      import
      integer(c_int) :: life_until_stable
      type(c_ptr), value :: lf
      integer(c_int64_t), value :: limit
      integer(c_int64_t), optional :: period
      integer(c_int64_t), optional :: generation
      type(c_funptr), value :: watch
      type(c_ptr), value :: arg
    end function
    function life_walk_runs(lf, run, arg) bind(C)
      import
      integer(c_int) :: life_walk_runs
      type(c_ptr), value :: lf
      type(c_funptr), value :: run
      type(c_ptr), value :: arg
    end function
    function life_walk_tiles(lf, tile, arg) bind(C)
      import
      integer(c_int) :: life_walk_tiles
      type(c_ptr), value :: lf
      type(c_funptr), value :: tile
      type(c_ptr), value :: arg
    end function
    function life_width(lf) bind(C)
      import
      integer(c_size_t) :: life_width
      type(c_ptr), value :: lf
    end function
    function matmul_batch(mm, dev, trans, m, n, k, alpha, a, lda, stride_a, b, ldb, stride_b, beta, c, ldc, &
      stride_c, count) bind(C)
      import
      integer(c_int) :: matmul_batch
      type(c_ptr), value :: mm
      integer(c_int32_t), value :: dev
      integer(c_int), value :: trans
      integer(c_size_t), value :: m
      integer(c_size_t), value :: n
      integer(c_size_t), value :: k
      real(c_double), value :: alpha
      type(c_ptr), value :: a
      integer(c_size_t), value :: lda
      integer(c_size_t), value :: stride_a
      type(c_ptr), value :: b
      integer(c_size_t), value :: ldb
      integer(c_size_t), value :: stride_b
      real(c_double), value :: beta
      type(c_ptr), value :: c
      integer(c_size_t), value :: ldc
      integer(c_size_t), value :: stride_c
      integer(c_size_t), value :: count
    end function
    function matmul_block_limit(ctx, precision) bind(C)
      import
      integer(c_size_t) :: matmul_block_limit
      type(c_ptr), value :: ctx
      integer(c_int), value :: precision
    end function
    function matmul_busy_time(mm, work) bind(C)
      import
      real(c_double) :: matmul_busy_time
      type(c_ptr), value :: mm
      real(c_double), optional :: work(*)
    end function
    function matmul_compute(mm, alpha, beta) bind(C)
      import
      integer(c_int) :: matmul_compute
      type(c_ptr), value :: mm
      real(c_double), value :: alpha
      real(c_double), value :: beta
    end function
    function matmul_create(options) bind(C)
      import
      type(c_ptr) :: matmul_create
      type(matmul_options), intent(in), optional :: options
    end function
    function matmul_double(trans, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc) bind(C)
      import
      integer(c_int) :: matmul_double
      integer(c_int), value :: trans
      integer(c_size_t), value :: m
      integer(c_size_t), value :: n
      integer(c_size_t), value :: k
      real(c_double), value :: alpha
      real(c_double), intent(in), optional :: a(*)
      integer(c_size_t), value :: lda
      real(c_double), intent(in), optional :: b(*)
      integer(c_size_t), value :: ldb
      real(c_double), value :: beta
      real(c_double), optional :: c(*)
      integer(c_size_t), value :: ldc
    end function
    function matmul_enqueue(mm, dev, trans, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc) bind(C)
      import
      integer(c_int) :: matmul_enqueue
      type(c_ptr), value :: mm
      integer(c_int32_t), value :: dev
      integer(c_int), value :: trans
      integer(c_size_t), value :: m
      integer(c_size_t), value :: n
      integer(c_size_t), value :: k
      real(c_double), value :: alpha
      type(c_ptr), value :: a
      integer(c_size_t), value :: lda
      type(c_ptr), value :: b
      integer(c_size_t), value :: ldb
      real(c_double), value :: beta
      type(c_ptr), value :: c
      integer(c_size_t), value :: ldc
    end function
    function matmul_error(precision, trans, m, n, k, alpha, a, lda, b, ldb, beta, before, c, ldc, sample) bind(C)
      import
      real(c_double) :: matmul_error
      integer(c_int), value :: precision
      integer(c_int), value :: trans
      integer(c_size_t), value :: m
      integer(c_size_t), value :: n
      integer(c_size_t), value :: k
      real(c_double), value :: alpha
      type(c_ptr), value :: a
      integer(c_size_t), value :: lda
      type(c_ptr), value :: b
      integer(c_size_t), value :: ldb
      real(c_double), value :: beta
      type(c_ptr), value :: before
      type(c_ptr), value :: c
      integer(c_size_t), value :: ldc
      integer(c_size_t), value :: sample
    end function
    function matmul_explain(mm, dev, m, n, k) bind(C)
      import
      type(c_ptr) :: matmul_explain
      type(c_ptr), value :: mm
      integer(c_int32_t), value :: dev
      integer(c_size_t), value :: m
      integer(c_size_t), value :: n
      integer(c_size_t), value :: k
    end function
    subroutine matmul_free(mm) bind(C)
      import
      type(c_ptr), value :: mm
    end subroutine
    function matmul_kind_by_name(name) bind(C)
      import
      integer(c_int) :: matmul_kind_by_name
      character(kind=c_char), intent(in), optional :: name(*)
    end function
    function matmul_kind_is_host(kind) bind(C)
      import
      integer(c_int) :: matmul_kind_is_host
      integer(c_int), value :: kind
    end function
    function matmul_kind_missing(kind) bind(C)
      import
      type(c_ptr) :: matmul_kind_missing
      integer(c_int), value :: kind
    end function
    function matmul_kind_name(kind) bind(C)
      import
      type(c_ptr) :: matmul_kind_name
      integer(c_int), value :: kind
    end function
    function matmul_kind_summary(kind) bind(C)
      import
      type(c_ptr) :: matmul_kind_summary
      integer(c_int), value :: kind
    end function
    function matmul_load(mm, trans, m, n, k, a, lda, b, ldb) bind(C)
      import
      integer(c_int) :: matmul_load
      type(c_ptr), value :: mm
      integer(c_int), value :: trans
      integer(c_size_t), value :: m
      integer(c_size_t), value :: n
      integer(c_size_t), value :: k
      type(c_ptr), value :: a
      integer(c_size_t), value :: lda
      type(c_ptr), value :: b
      integer(c_size_t), value :: ldb
    end function
    function matmul_load_result(mm, c, ldc) bind(C)
      import
      integer(c_int) :: matmul_load_result
      type(c_ptr), value :: mm
      type(c_ptr), value :: c
      integer(c_size_t), value :: ldc
    end function
    function matmul_multiply(mm, trans, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc) bind(C)
      import
      integer(c_int) :: matmul_multiply
      type(c_ptr), value :: mm
      integer(c_int), value :: trans
      integer(c_size_t), value :: m
      integer(c_size_t), value :: n
      integer(c_size_t), value :: k
      real(c_double), value :: alpha
      type(c_ptr), value :: a
      integer(c_size_t), value :: lda
      type(c_ptr), value :: b
      integer(c_size_t), value :: ldb
      real(c_double), value :: beta
      type(c_ptr), value :: c
      integer(c_size_t), value :: ldc
    end function
    function matmul_multiply_out_of_core(mm, trans, m, n, k, alpha, a, b, beta, c) bind(C)
      import
      integer(c_int) :: matmul_multiply_out_of_core
      type(c_ptr), value :: mm
      integer(c_int), value :: trans
      integer(c_size_t), value :: m
      integer(c_size_t), value :: n
      integer(c_size_t), value :: k
      real(c_double), value :: alpha
      type(matmul_out_of_core), intent(in), optional :: a
      type(matmul_out_of_core), intent(in), optional :: b
      real(c_double), value :: beta
      type(matmul_out_of_core), intent(in), optional :: c
    end function
    subroutine matmul_partition(world, rank, rows, first, count) bind(C)
      import
      type(c_ptr), value :: world
      integer(c_int), value :: rank
      integer(c_size_t), value :: rows
      integer(c_size_t), optional :: first(*)
      integer(c_size_t), optional :: count(*)
    end subroutine
    function matmul_peak(ctx, dev, precision) bind(C)
      import
      real(c_double) :: matmul_peak
      type(c_ptr), value :: ctx
      integer(c_int32_t), value :: dev
      integer(c_int), value :: precision
    end function
    subroutine matmul_random(precision, seed, matrix, rows, cols, x, ld) bind(C)
      import
      integer(c_int), value :: precision
      integer(c_int64_t), value :: seed
      integer(c_int32_t), value :: matrix
      integer(c_size_t), value :: rows
      integer(c_size_t), value :: cols
      type(c_ptr), value :: x
      integer(c_size_t), value :: ld
    end subroutine
    subroutine matmul_random_rows(precision, seed, matrix, first, rows, cols, x, ld) bind(C)
      import
      integer(c_int), value :: precision
      integer(c_int64_t), value :: seed
      integer(c_int32_t), value :: matrix
      integer(c_size_t), value :: first
      integer(c_size_t), value :: rows
      integer(c_size_t), value :: cols
      type(c_ptr), value :: x
      integer(c_size_t), value :: ld
    end subroutine
    function matmul_result(mm, c, ldc) bind(C)
      import
      integer(c_int) :: matmul_result
      type(c_ptr), value :: mm
      type(c_ptr), value :: c
      integer(c_size_t), value :: ldc
    end function
    function matmul_set_weight(mm, weight) bind(C)
      import
      integer(c_int) :: matmul_set_weight
      type(c_ptr), value :: mm
      real(c_double), value :: weight
    end function
    function matmul_shape(mm, dev, m, n, k) bind(C)
      import
      type(c_ptr) :: matmul_shape
      type(c_ptr), value :: mm
      integer(c_int32_t), value :: dev
      integer(c_size_t), value :: m
      integer(c_size_t), value :: n
      integer(c_size_t), value :: k
    end function
    function matmul_single(trans, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc) bind(C)
      import
      integer(c_int) :: matmul_single
      integer(c_int), value :: trans
      integer(c_size_t), value :: m
      integer(c_size_t), value :: n
      integer(c_size_t), value :: k
      real(c_float), value :: alpha
      real(c_float), intent(in), optional :: a(*)
      integer(c_size_t), value :: lda
      real(c_float), intent(in), optional :: b(*)
      integer(c_size_t), value :: ldb
      real(c_float), value :: beta
      real(c_float), optional :: c(*)
      integer(c_size_t), value :: ldc
    end function
    function matmul_tolerance(precision, k, random) bind(C)
      import
      real(c_double) :: matmul_tolerance
      integer(c_int), value :: precision
      integer(c_size_t), value :: k
      integer(c_int), value :: random
    end function
    function matmul_tune_kernels(count) bind(C)
      import
      type(c_ptr) :: matmul_tune_kernels
      integer(c_size_t), optional :: count
    end function
    subroutine nbody_block_counts(nb, blocks, steps) bind(C)
      import
      type(c_ptr), value :: nb
      real(c_double), optional :: blocks(*)
      real(c_double), optional :: steps(*)
    end subroutine
    function nbody_bodies(nb) bind(C)
      import
      integer(c_size_t) :: nbody_bodies
      type(c_ptr), value :: nb
    end function
    function nbody_check_forces(nb, samples, seed, errors) bind(C)
      import
      integer(c_int) :: nbody_check_forces
      type(c_ptr), value :: nb
      integer(c_size_t), value :: samples
      integer(c_int64_t), value :: seed
      type(nbody_force_errors), optional :: errors
    end function
    function nbody_contacts(nb, contacts) bind(C)
      import
      type(c_ptr) :: nbody_contacts
      type(c_ptr), value :: nb
      integer(c_size_t), optional :: contacts(*)
    end function
    function nbody_create(options, n, mass, pos, vel) bind(C)
      import
      type(c_ptr) :: nbody_create
      type(nbody_options), intent(in), optional :: options
      integer(c_size_t), value :: n
      real(c_double), intent(in), optional :: mass(*)
      real(c_double), intent(in), optional :: pos(3, *)
      real(c_double), intent(in), optional :: vel(3, *)
    end function
    function nbody_device_bodies(nb, dev) bind(C)
      import
      integer(c_size_t) :: nbody_device_bodies
      type(c_ptr), value :: nb
      integer(c_int), value :: dev
    end function
    function nbody_device_bytes(nb) bind(C)
      import
      integer(c_size_t) :: nbody_device_bytes
      type(c_ptr), value :: nb
    end function
    function nbody_devices(nb) bind(C)
      import
      integer(c_int) :: nbody_devices
      type(c_ptr), value :: nb
    end function
    function nbody_diagnose(nb, d) bind(C)
      import
      integer(c_int) :: nbody_diagnose
      type(c_ptr), value :: nb
      type(nbody_diagnostics), optional :: d
    end function
    function nbody_elapsed(nb) bind(C)
      import
      real(c_double) :: nbody_elapsed
      type(c_ptr), value :: nb
    end function
    function nbody_ensemble_create(options, systems, bodies, mass, pos, vel) bind(C)
      import
      type(c_ptr) :: nbody_ensemble_create
      type(nbody_ensemble_options), intent(in), optional :: options
      integer(c_size_t), value :: systems
      integer(c_size_t), value :: bodies
      real(c_double), intent(in), optional :: mass(*)
      real(c_double), intent(in), optional :: pos(3, *)
      real(c_double), intent(in), optional :: vel(3, *)
    end function
    function nbody_ensemble_energies(e, energy) bind(C)
      import
      integer(c_int) :: nbody_ensemble_energies
      type(c_ptr), value :: e
      real(c_double), optional :: energy(*)
    end function
    function nbody_ensemble_events(e, n, which, event, events) bind(C)
      import
      integer(c_int) :: nbody_ensemble_events
      type(c_ptr), value :: e
      integer(c_size_t), value :: n
      integer(c_size_t), intent(in), optional :: which(*)
      type(c_ptr), optional :: event(*)
      integer(c_size_t), optional :: events(*)
    end function
    function nbody_ensemble_find_chaos(e, n, which, chaos) bind(C)
      import
      integer(c_int) :: nbody_ensemble_find_chaos
      type(c_ptr), value :: e
      integer(c_size_t), value :: n
      integer(c_size_t), intent(in), optional :: which(*)
      type(nbody_chaos), optional :: chaos
    end function
    subroutine nbody_ensemble_free(e) bind(C)
      import
      type(c_ptr), value :: e
    end subroutine
    function nbody_ensemble_load(e, from, size) bind(C)
      import
      integer(c_int) :: nbody_ensemble_load
      type(c_ptr), value :: e
      type(c_ptr), value :: from
      integer(c_size_t), value :: size
    end function
    function nbody_ensemble_read(e, n, which, mass, pos, vel) bind(C)
      import
      integer(c_int) :: nbody_ensemble_read
      type(c_ptr), value :: e
      integer(c_size_t), value :: n
      integer(c_size_t), intent(in), optional :: which(*)
      real(c_double), optional :: mass(*)
      real(c_double), optional :: pos(3, *)
      real(c_double), optional :: vel(3, *)
    end function
    function nbody_ensemble_save(e, to) bind(C)
      import
      integer(c_int) :: nbody_ensemble_save
      type(c_ptr), value :: e
      type(c_ptr), value :: to
    end function
    function nbody_ensemble_save_bytes(e) bind(C)
      import
      integer(c_size_t) :: nbody_ensemble_save_bytes
      type(c_ptr), value :: e
    end function
    function nbody_ensemble_set_dt(e, dt) bind(C)
      import
      integer(c_int) :: nbody_ensemble_set_dt
      type(c_ptr), value :: e
      real(c_double), value :: dt
    end function
    function nbody_ensemble_state(e, pos, vel) bind(C)
      import
      integer(c_int) :: nbody_ensemble_state
      type(c_ptr), value :: e
      real(c_double), optional :: pos(3, *)
      real(c_double), optional :: vel(3, *)
    end function
    function nbody_ensemble_step(e, steps) bind(C)
      import
      integer(c_int) :: nbody_ensemble_step
      type(c_ptr), value :: e
      integer(c_size_t), value :: steps
    end function
    function nbody_ensemble_steps(e) bind(C)
      import
      integer(c_size_t) :: nbody_ensemble_steps
      type(c_ptr), value :: e
    end function
    function nbody_ensemble_systems(e, n, which, system) bind(C)
      import
      integer(c_int) :: nbody_ensemble_systems
      type(c_ptr), value :: e
      integer(c_size_t), value :: n
      integer(c_size_t), intent(in), optional :: which(*)
      type(nbody_system), optional :: system
    end function
    function nbody_ensemble_time(e) bind(C)
      import
      real(c_double) :: nbody_ensemble_time
      type(c_ptr), value :: e
    end function
    function nbody_ensemble_watch(e, options) bind(C)
      import
      integer(c_int) :: nbody_ensemble_watch
      type(c_ptr), value :: e
      type(nbody_ensemble_watch_options), intent(in), optional :: options
    end function
    function nbody_eta(nb) bind(C)
      import
      real(c_double) :: nbody_eta
      type(c_ptr), value :: nb
    end function
    function nbody_events(nb, events) bind(C)
      import
      type(c_ptr) :: nbody_events
      type(c_ptr), value :: nb
      integer(c_size_t), optional :: events(*)
    end function
    function nbody_explain(nb, dev) bind(C)
      import
      type(c_ptr) :: nbody_explain
      type(c_ptr), value :: nb
      integer(c_int), value :: dev
    end function
    function nbody_explain_method(nb) bind(C)
      import
      type(c_ptr) :: nbody_explain_method
      type(c_ptr), value :: nb
    end function
    function nbody_find_chaos(nb, chaos) bind(C)
      import
      integer(c_int) :: nbody_find_chaos
      type(c_ptr), value :: nb
      type(nbody_chaos), optional :: chaos
    end function
    function nbody_find_contacts(n, radius, pos, vel, dt, contact, contacts) bind(C)
      import
      integer(c_int) :: nbody_find_contacts
      integer(c_size_t), value :: n
      real(c_double), intent(in), optional :: radius(*)
      real(c_double), intent(in), optional :: pos(3, *)
      real(c_double), intent(in), optional :: vel(3, *)
      real(c_double), value :: dt
      type(c_ptr), optional :: contact(*)
      integer(c_size_t), optional :: contacts(*)
    end function
    function nbody_find_elements(gm, pos, vel) bind(C)
      import
      type(nbody_elements) :: nbody_find_elements
      real(c_double), value :: gm
      real(c_double), intent(in), optional :: pos(*)
      real(c_double), intent(in), optional :: vel(*)
    end function
    function nbody_find_structure(n, G, mass, pos, vel, potential, shells, shell, s) bind(C)
      import
      integer(c_int) :: nbody_find_structure
      integer(c_size_t), value :: n
      real(c_double), value :: G
      real(c_double), intent(in), optional :: mass(*)
      real(c_double), intent(in), optional :: pos(3, *)
      real(c_double), intent(in), optional :: vel(3, *)
      real(c_double), intent(in), optional :: potential(*)
      integer(c_size_t), value :: shells
      type(nbody_shell), optional :: shell(*)
      type(nbody_structure), optional :: s
    end function
    function nbody_find_structure_device(ctx, dev, n, G, mass, pos, vel, potential, shells, shell, s) bind(C)
      import
      integer(c_int) :: nbody_find_structure_device
      type(c_ptr), value :: ctx
      integer(c_int32_t), value :: dev
      integer(c_size_t), value :: n
      real(c_double), value :: G
      real(c_double), intent(in), optional :: mass(*)
      real(c_double), intent(in), optional :: pos(3, *)
      real(c_double), intent(in), optional :: vel(3, *)
      real(c_double), intent(in), optional :: potential(*)
      integer(c_size_t), value :: shells
      type(nbody_shell), optional :: shell
      type(nbody_structure), optional :: s
    end function
    function nbody_forces(nb, acc, potential) bind(C)
      import
      integer(c_int) :: nbody_forces
      type(c_ptr), value :: nb
      real(c_double), optional :: acc(3, *)
      real(c_double), optional :: potential(*)
    end function
    subroutine nbody_free(nb) bind(C)
      import
      type(c_ptr), value :: nb
    end subroutine
    function nbody_initial(model, n, seed, mass, pos, vel) bind(C)
      import
      integer(c_int) :: nbody_initial
      integer(c_int), value :: model
      integer(c_size_t), value :: n
      integer(c_int64_t), value :: seed
      real(c_double), optional :: mass(*)
      real(c_double), optional :: pos(3, *)
      real(c_double), optional :: vel(3, *)
    end function
    subroutine nbody_initial_scale(n, kinetic, potential, pos, vel) bind(C)
      import
      integer(c_size_t), value :: n
      real(c_double), value :: kinetic
      real(c_double), value :: potential
      real(c_double), optional :: pos(3, *)
      real(c_double), optional :: vel(3, *)
    end subroutine
    function nbody_initial_slice(world, model, n, seed, first, count, mass, pos, vel) bind(C)
      import
      integer(c_int) :: nbody_initial_slice
      type(c_ptr), value :: world
      integer(c_int), value :: model
      integer(c_size_t), value :: n
      integer(c_int64_t), value :: seed
      integer(c_size_t), value :: first
      integer(c_size_t), value :: count
      real(c_double), optional :: mass(*)
      real(c_double), optional :: pos(3, *)
      real(c_double), optional :: vel(3, *)
    end function
    function nbody_integrator_describe(integrator) bind(C)
      import
      type(c_ptr) :: nbody_integrator_describe
      integer(c_int), value :: integrator
    end function
    function nbody_interactions(nb) bind(C)
      import
      real(c_double) :: nbody_interactions
      type(c_ptr), value :: nb
    end function
    function nbody_load(nb, from, size) bind(C)
      import
      integer(c_int) :: nbody_load
      type(c_ptr), value :: nb
      type(c_ptr), value :: from
      integer(c_size_t), value :: size
    end function
    function nbody_method(nb) bind(C)
      import
      integer(c_int) :: nbody_method
      type(c_ptr), value :: nb
    end function
    function nbody_model_bodies(model) bind(C)
      import
      integer(c_size_t) :: nbody_model_bodies
      integer(c_int), value :: model
    end function
    function nbody_model_by_name(name) bind(C)
      import
      integer(c_int) :: nbody_model_by_name
      character(kind=c_char), intent(in), optional :: name(*)
    end function
    function nbody_orbit_state(gm, orbit, pos, vel) bind(C)
      import
      integer(c_int) :: nbody_orbit_state
      real(c_double), value :: gm
      type(nbody_elements), intent(in), optional :: orbit
      real(c_double), optional :: pos(*)
      real(c_double), optional :: vel(*)
    end function
    function nbody_peak_rate(nb) bind(C)
      import
      real(c_double) :: nbody_peak_rate
      type(c_ptr), value :: nb
    end function
    function nbody_place(nb) bind(C)
      import
      integer(c_int) :: nbody_place
      type(c_ptr), value :: nb
    end function
    function nbody_positions(nb, count, which, pos, vel) bind(C)
      import
      integer(c_int) :: nbody_positions
      type(c_ptr), value :: nb
      integer(c_size_t), value :: count
      integer(c_int32_t), intent(in), optional :: which(*)
      real(c_float), optional :: pos(3, *)
      real(c_float), optional :: vel(3, *)
    end function
    function nbody_save(nb, to) bind(C)
      import
      integer(c_int) :: nbody_save
      type(c_ptr), value :: nb
      type(c_ptr), value :: to
    end function
    function nbody_save_bytes(nb) bind(C)
      import
      integer(c_size_t) :: nbody_save_bytes
      type(c_ptr), value :: nb
    end function
    function nbody_save_pieces(nb, put, arg) bind(C)
      import
      integer(c_int) :: nbody_save_pieces
      type(c_ptr), value :: nb
      type(c_funptr), value :: put
      type(c_ptr), value :: arg
    end function
    subroutine nbody_set_clock(nb, time, steps) bind(C)
      import
      type(c_ptr), value :: nb
      real(c_double), value :: time
      integer(c_size_t), value :: steps
    end subroutine
    function nbody_set_dt(nb, dt) bind(C)
      import
      integer(c_int) :: nbody_set_dt
      type(c_ptr), value :: nb
      real(c_double), value :: dt
    end function
    function nbody_set_elapsed(nb, elapsed) bind(C)
      import
      integer(c_int) :: nbody_set_elapsed
      type(c_ptr), value :: nb
      real(c_double), value :: elapsed
    end function
    function nbody_set_force_callback(nb, force, arg, kind) bind(C)
      import
      integer(c_int) :: nbody_set_force_callback
      type(c_ptr), value :: nb
      type(c_funptr), value :: force
      type(c_ptr), value :: arg
      integer(c_int), value :: kind
    end function
    function nbody_shape(nb, dev) bind(C)
      import
      type(c_ptr) :: nbody_shape
      type(c_ptr), value :: nb
      integer(c_int), value :: dev
    end function
    function nbody_snapshot_begin(nb) bind(C)
      import
      integer(c_int) :: nbody_snapshot_begin
      type(c_ptr), value :: nb
    end function
    function nbody_snapshot_read(nb, to) bind(C)
      import
      integer(c_int) :: nbody_snapshot_read
      type(c_ptr), value :: nb
      type(c_ptr), value :: to
    end function
    function nbody_state(nb, pos, vel) bind(C)
      import
      integer(c_int) :: nbody_state
      type(c_ptr), value :: nb
      real(c_double), optional :: pos(3, *)
      real(c_double), optional :: vel(3, *)
    end function
    function nbody_step(nb, steps) bind(C)
      import
      integer(c_int) :: nbody_step
      type(c_ptr), value :: nb
      integer(c_size_t), value :: steps
    end function
    function nbody_steps(nb) bind(C)
      import
      integer(c_size_t) :: nbody_steps
      type(c_ptr), value :: nb
    end function
    function nbody_time(nb) bind(C)
      import
      real(c_double) :: nbody_time
      type(c_ptr), value :: nb
    end function
    function nbody_time_forces(nb, times, seconds) bind(C)
      import
      integer(c_int) :: nbody_time_forces
      type(c_ptr), value :: nb
      integer(c_size_t), value :: times
      real(c_double), optional :: seconds
    end function
    function nbody_tune_kernels(count) bind(C)
      import
      type(c_ptr) :: nbody_tune_kernels
      integer(c_size_t), optional :: count
    end function
    function nbody_watch_contacts(nb, radius) bind(C)
      import
      integer(c_int) :: nbody_watch_contacts
      type(c_ptr), value :: nb
      real(c_double), intent(in), optional :: radius(*)
    end function
    function nbody_watch_events(nb, rules, rule) bind(C)
      import
      integer(c_int) :: nbody_watch_events
      type(c_ptr), value :: nb
      integer(c_size_t), value :: rules
      type(nbody_event_rule), intent(in), optional :: rule
    end function
    function oclerror_str(code) bind(C)
      import
      type(c_ptr) :: oclerror_str
      integer(c_int), value :: code
    end function
    subroutine oclperror(prefix) bind(C)
      import
      character(kind=c_char), intent(in), optional :: prefix(*)
    end subroutine
    function stdcl_arg_global(krn, i, ptr, type) bind(C)
      import
      integer(c_size_t) :: stdcl_arg_global
      type(c_ptr), value :: krn
      integer(c_int32_t), value :: i
      type(c_ptr), value :: ptr
      character(kind=c_char), intent(in), optional :: type(*)
    end function
    function stdcl_arg_local(krn, i, bytes) bind(C)
      import
      integer(c_int) :: stdcl_arg_local
      type(c_ptr), value :: krn
      integer(c_int32_t), value :: i
      integer(c_size_t), value :: bytes
    end function
    function stdcl_arg_pointer(krn, i, ptr, type) bind(C)
      import
      integer(c_int) :: stdcl_arg_pointer
      type(c_ptr), value :: krn
      integer(c_int32_t), value :: i
      type(c_ptr), value :: ptr
      character(kind=c_char), intent(in), optional :: type(*)
    end function
    function stdcl_arg_value(krn, i, size, value, type) bind(C)
      import
      integer(c_int) :: stdcl_arg_value
      type(c_ptr), value :: krn
      integer(c_int32_t), value :: i
      integer(c_size_t), value :: size
      type(c_ptr), value :: value
      character(kind=c_char), intent(in), optional :: type(*)
    end function
    subroutine stdcl_embed_register(source) bind(C)
      import
      type(stdcl_embedded), optional :: source
    end subroutine
    subroutine stdcl_embed_register_binary(binary) bind(C)
      import
      type(stdcl_embedded_binary), optional :: binary
    end subroutine
    function stdcl_enqueue_kernel(queue, krn, dim, offset, global, local, nwait, wait, ev) bind(C)
      import
      integer(c_int32_t) :: stdcl_enqueue_kernel
      type(c_ptr), value :: queue
      type(c_ptr), value :: krn
      integer(c_int32_t), value :: dim
      integer(c_size_t), intent(in), optional :: offset(*)
      integer(c_size_t), intent(in), optional :: global(*)
      integer(c_size_t), intent(in), optional :: local(*)
      integer(c_int32_t), value :: nwait
      type(c_ptr), intent(in), optional :: wait(*)
      type(c_ptr), optional :: ev(*)
    end function
    function stdcl_errno_address() bind(C)
      import
      type(c_ptr) :: stdcl_errno_address
    end function
    function stdcl_forka(cp, dev, krn, ndr, flags, nargs, args) bind(C)
      import
      integer(c_intptr_t) :: stdcl_forka
      type(c_ptr), value :: cp
      integer(c_int32_t), value :: dev
      type(c_ptr), value :: krn
      type(clndrange_t), optional :: ndr
      integer(c_int), value :: flags
      integer(c_int32_t), value :: nargs
      type(stdcl_arg), intent(in), optional :: args(*)
    end function
    subroutine stdcl_init() bind(C)
      import
    end subroutine
    function stdcl_oclerrno_address() bind(C)
      import
      type(c_ptr) :: stdcl_oclerrno_address
    end function
    function stdcl_set_kernel_arg(krn, i, size, value) bind(C)
      import
      integer(c_int32_t) :: stdcl_set_kernel_arg
      type(c_ptr), value :: krn
      integer(c_int32_t), value :: i
      integer(c_size_t), value :: size
      type(c_ptr), value :: value
    end function
    function stdcl_standard_context(which) bind(C)
      import
      type(c_ptr) :: stdcl_standard_context
      integer(c_int), value :: which
    end function
    function stdcl_stdacc_address() bind(C)
      import
      type(c_ptr) :: stdcl_stdacc_address
    end function
    function stdcl_stdcpu_address() bind(C)
      import
      type(c_ptr) :: stdcl_stdcpu_address
    end function
    function stdcl_stddev_address() bind(C)
      import
      type(c_ptr) :: stdcl_stddev_address
    end function
    function stdcl_stdgpu_address() bind(C)
      import
      type(c_ptr) :: stdcl_stdgpu_address
    end function
    function stdcl_stdnpu_address() bind(C)
      import
      type(c_ptr) :: stdcl_stdnpu_address
    end function
    function stdcl_stdrpu_address() bind(C)
      import
      type(c_ptr) :: stdcl_stdrpu_address
    end function
    function stdcl_version() bind(C)
      import
      type(c_ptr) :: stdcl_version
    end function
    function view_add_row(v, value) bind(C)
      import
      integer(c_int) :: view_add_row
      type(c_ptr), value :: v
      real(c_double), intent(in), optional :: value(*)
    end function
    function view_behind(v) bind(C)
      import
      integer(c_int) :: view_behind
      type(c_ptr), value :: v
    end function
    function view_bodies_wanted(v) bind(C)
      import
      integer(c_size_t) :: view_bodies_wanted
      type(c_ptr), value :: v
    end function
    function view_cells_bytes(region, states) bind(C)
      import
      integer(c_size_t) :: view_cells_bytes
      type(view_region), intent(in), optional :: region
      integer(c_int), value :: states
    end function
    function view_cells_shade(live, zoom) bind(C)
      import
      integer(c_int8_t) :: view_cells_shade
      integer(c_int64_t), value :: live
      integer(c_int32_t), value :: zoom
    end function
    function view_close(v) bind(C)
      import
      integer(c_int) :: view_close
      type(c_ptr), value :: v
    end function
    function view_due(v) bind(C)
      import
      integer(c_int) :: view_due
      type(c_ptr), value :: v
    end function
    function view_due_in(v) bind(C)
      import
      real(c_double) :: view_due_in
      type(c_ptr), value :: v
    end function
    subroutine view_end(v, sentence) bind(C)
      import
      type(c_ptr), value :: v
      character(kind=c_char), intent(in), optional :: sentence(*)
    end subroutine
    function view_next_command(v, command) bind(C)
      import
      integer(c_int) :: view_next_command
      type(c_ptr), value :: v
      type(view_command), optional :: command
    end function
    function view_open(options) bind(C)
      import
      type(c_ptr) :: view_open
      type(view_options), intent(in), optional :: options
    end function
    subroutine view_recording_close(r) bind(C)
      import
      type(c_ptr), value :: r
    end subroutine
    function view_recording_frames(r) bind(C)
      import
      integer(c_size_t) :: view_recording_frames
      type(c_ptr), value :: r
    end function
    function view_recording_open(file) bind(C)
      import
      type(c_ptr) :: view_recording_open
      character(kind=c_char), intent(in), optional :: file(*)
    end function
    function view_recording_overlay(r, other, name) bind(C)
      import
      integer(c_int) :: view_recording_overlay
      type(c_ptr), value :: r
      type(c_ptr), value :: other
      type(c_ptr), intent(in), optional :: name(*)
    end function
    function view_recording_time(r, frame) bind(C)
      import
      real(c_double) :: view_recording_time
      type(c_ptr), value :: r
      integer(c_size_t), value :: frame
    end function
    function view_recording_title(r) bind(C)
      import
      type(c_ptr) :: view_recording_title
      type(c_ptr), value :: r
    end function
    function view_regions_wanted(v, region) bind(C)
      import
      integer(c_int) :: view_regions_wanted
      type(c_ptr), value :: v
      type(view_region), optional :: region
    end function
    subroutine view_reopens(v) bind(C)
      import
      type(c_ptr), value :: v
    end subroutine
    function view_sample_order(v) bind(C)
      import
      type(c_ptr) :: view_sample_order
      type(c_ptr), value :: v
    end function
    subroutine view_say(v, sentence) bind(C)
      import
      type(c_ptr), value :: v
      character(kind=c_char), intent(in), optional :: sentence(*)
    end subroutine
    subroutine view_set_box(v, box) bind(C)
      import
      type(c_ptr), value :: v
      real(c_double), intent(in), optional :: box(*)
    end subroutine
    subroutine view_set_objects(v, step, names) bind(C)
      import
      type(c_ptr), value :: v
      integer(c_int64_t), value :: step
      character(kind=c_char), intent(in), optional :: names(*)
    end subroutine
    subroutine view_set_rule(v, rule) bind(C)
      import
      type(c_ptr), value :: v
      character(kind=c_char), intent(in), optional :: rule(*)
    end subroutine
    subroutine view_set_state(v, state) bind(C)
      import
      type(c_ptr), value :: v
      type(view_state), intent(in), optional :: state
    end subroutine
    function view_show_bars(v, at, bins, top, count, expected) bind(C)
      import
      integer(c_int) :: view_show_bars
      type(c_ptr), value :: v
      type(view_moment), value :: at
      integer(c_int32_t), value :: bins
      real(c_double), value :: top
      integer(c_int64_t), intent(in), optional :: count(*)
      real(c_double), intent(in), optional :: expected(*)
    end function
    function view_show_cells(v, at, population, n, cells) bind(C)
      import
      integer(c_int) :: view_show_cells
      type(c_ptr), value :: v
      type(view_moment), value :: at
      integer(c_int64_t), value :: population
      integer(c_int), value :: n
      type(view_cells), intent(in), optional :: cells
    end function
    function view_show_grid(v, at, value) bind(C)
      import
      integer(c_int) :: view_show_grid
      type(c_ptr), value :: v
      type(view_moment), value :: at
      real(c_float), intent(in), optional :: value(*)
    end function
    function view_show_points(v, points) bind(C)
      import
      integer(c_int) :: view_show_points
      type(c_ptr), value :: v
      type(view_points), intent(in), optional :: points
    end function
    function view_show_profiles(v, time, n, profile) bind(C)
      import
      integer(c_int) :: view_show_profiles
      type(c_ptr), value :: v
      real(c_double), value :: time
      integer(c_size_t), value :: n
      type(view_profile), intent(in), optional :: profile
    end function
    function view_show_recorded(v, r, frame) bind(C)
      import
      integer(c_int) :: view_show_recorded
      type(c_ptr), value :: v
      type(c_ptr), value :: r
      integer(c_size_t), value :: frame
    end function
    function view_tokens(v) bind(C)
      import
      type(c_ptr) :: view_tokens
      type(c_ptr), value :: v
    end function
    function view_tunnel(v) bind(C)
      import
      type(c_ptr) :: view_tunnel
      type(c_ptr), value :: v
    end function
    function view_url(v, guest) bind(C)
      import
      type(c_ptr) :: view_url
      type(c_ptr), value :: v
      integer(c_int), value :: guest
    end function
    function view_viewers(v) bind(C)
      import
      integer(c_int) :: view_viewers
      type(c_ptr), value :: v
    end function
    subroutine view_wait(v, seconds) bind(C)
      import
      type(c_ptr), value :: v
      real(c_double), value :: seconds
    end subroutine
    function view_write_page(fp, recording) bind(C)
      import
      integer(c_int) :: view_write_page
      type(c_ptr), value :: fp
      character(kind=c_char), intent(in), optional :: recording(*)
    end function
    subroutine world_abort(world, status, message) bind(C)
      import
      type(c_ptr), value :: world
      integer(c_int), value :: status
      character(kind=c_char), intent(in), optional :: message(*)
    end subroutine
    function world_add(world, numbers, count) bind(C)
      import
      integer(c_int) :: world_add
      type(c_ptr), value :: world
      integer(c_int64_t), optional :: numbers(*)
      integer(c_size_t), value :: count
    end function
    function world_barrier(world) bind(C)
      import
      integer(c_int) :: world_barrier
      type(c_ptr), value :: world
    end function
    function world_broadcast(world, root, bytes, size) bind(C)
      import
      integer(c_int) :: world_broadcast
      type(c_ptr), value :: world
      integer(c_int), value :: root
      type(c_ptr), value :: bytes
      integer(c_size_t), value :: size
    end function
    function world_check_equal(world, what, text) bind(C)
      import
      integer(c_int) :: world_check_equal
      type(c_ptr), value :: world
      character(kind=c_char), intent(in), optional :: what(*)
      character(kind=c_char), intent(in), optional :: text(*)
    end function
    function world_devices(world, ids, n, share, mine) bind(C)
      import
      integer(c_int) :: world_devices
      type(c_ptr), value :: world
      type(c_ptr), intent(in), optional :: ids(*)
      integer(c_size_t), value :: n
      integer(c_int), value :: share
      integer(c_signed_char), optional :: mine(*)
    end function
    function world_from_plugin(plugin, communicator, options) bind(C)
      import
      type(c_ptr) :: world_from_plugin
      character(kind=c_char), intent(in), optional :: plugin(*)
      integer(c_int), value :: communicator
      type(world_options), intent(in), optional :: options
    end function
    function world_gather(world, mine, size, all) bind(C)
      import
      integer(c_int) :: world_gather
      type(c_ptr), value :: world
      type(c_ptr), value :: mine
      integer(c_size_t), value :: size
      type(c_ptr), value :: all
    end function
    function world_host(world, rank) bind(C)
      import
      type(c_ptr) :: world_host
      type(c_ptr), value :: world
      integer(c_int), value :: rank
    end function
    function world_hosts(world) bind(C)
      import
      integer(c_int) :: world_hosts
      type(c_ptr), value :: world
    end function
    function world_join(options) bind(C)
      import
      type(c_ptr) :: world_join
      type(world_options), intent(in), optional :: options
    end function
    function world_launched(rank) bind(C)
      import
      integer(c_int) :: world_launched
      integer(c_int), optional :: rank(*)
    end function
    function world_leave(world) bind(C)
      import
      integer(c_int) :: world_leave
      type(c_ptr), value :: world
    end function
    function world_notified(world) bind(C)
      import
      integer(c_int) :: world_notified
      type(c_ptr), value :: world
    end function
    subroutine world_notify(world, number) bind(C)
      import
      type(c_ptr), value :: world
      integer(c_int), value :: number
    end subroutine
    function world_rank(world) bind(C)
      import
      integer(c_int) :: world_rank
      type(c_ptr), value :: world
    end function
    function world_receive(world, rank, tag, bytes, size) bind(C)
      import
      type(c_ptr) :: world_receive
      type(c_ptr), value :: world
      integer(c_int), value :: rank
      integer(c_int), value :: tag
      type(c_ptr), value :: bytes
      integer(c_size_t), value :: size
    end function
    function world_reduce(world, bytes, size, join, arg) bind(C)
      import
      integer(c_int) :: world_reduce
      type(c_ptr), value :: world
      type(c_ptr), value :: bytes
      integer(c_size_t), value :: size
      type(c_funptr), value :: join
      type(c_ptr), value :: arg
    end function
    function world_reduce_status(world, status) bind(C)
      import
      integer(c_int) :: world_reduce_status
      type(c_ptr), value :: world
      integer(c_int), value :: status
    end function
    function world_send(world, rank, tag, bytes, size) bind(C)
      import
      type(c_ptr) :: world_send
      type(c_ptr), value :: world
      integer(c_int), value :: rank
      integer(c_int), value :: tag
      type(c_ptr), value :: bytes
      integer(c_size_t), value :: size
    end function
    function world_size(world) bind(C)
      import
      integer(c_int) :: world_size
      type(c_ptr), value :: world
    end function
    function world_test(world, request) bind(C)
      import
      integer(c_int) :: world_test
      type(c_ptr), value :: world
      type(c_ptr), value :: request
    end function
    function world_transport(world) bind(C)
      import
      type(c_ptr) :: world_transport
      type(c_ptr), value :: world
    end function
    function world_wait(world, requests, n) bind(C)
      import
      integer(c_int) :: world_wait
      type(c_ptr), value :: world
      type(c_ptr), intent(in), optional :: requests(*)
      integer(c_size_t), value :: n
    end function
    function world_wait_time(world, rank) bind(C)
      import
      real(c_double) :: world_wait_time
      type(c_ptr), value :: world
      integer(c_int), value :: rank
    end function
  end interface
  ! ---- By hand: C's macros, and interfaces that differ in Fortran. ----

  ! A kernel argument, made by clarg(): a number, memory of clmalloc (its c_ptr), or local memory, clarg_local(bytes).
  type :: clarg_t
    private
    integer(c_size_t) :: bytes = 0
    integer(c_int) :: kind = STDCL_VALUE
    integer(c_int64_t) :: value = 0
    character(len=8) :: type = c_null_char
  end type

  interface clarg
    procedure clarg_integer, clarg_long, clarg_float, clarg_double, clarg_memory
  end interface

  ! An index space: clndrange(global [, local]), of one number or of an array of up to three.
  interface clndrange
    procedure clndrange_integer, clndrange_size, clndrange_sizes
  end interface

  private :: clarg_integer, clarg_long, clarg_float, clarg_double, clarg_memory, clndrange_integer, clndrange_size, &
    clndrange_sizes

contains

  ! The standard contexts; c_null_ptr if no such device exists.
  function stddev() result(cp)
    type(c_ptr) :: cp
    cp = stdcl_standard_context(0)
  end function

  function stdcpu() result(cp)
    type(c_ptr) :: cp
    cp = stdcl_standard_context(1)
  end function

  function stdgpu() result(cp)
    type(c_ptr) :: cp
    cp = stdcl_standard_context(2)
  end function

  ! Error code of this thread's last failing call.
  integer(c_int) function clerrno()
    integer(c_int), pointer :: code
    call c_f_pointer(stdcl_errno_address(), code)
    clerrno = code
  end function

  ! Convert a C string, such as clerror(); '' for c_null_ptr.
  function stdcl_string(text) result(string)
    type(c_ptr), intent(in) :: text
    character(len=:), allocatable :: string
    character(kind=c_char), pointer :: letters(:)
    integer :: i
    interface
      pure function strlen(text) bind(C)
        import
        type(c_ptr), intent(in), value :: text
        integer(c_size_t) :: strlen
      end function
    end interface
    string = ''
    if (.not. c_associated(text)) return
    call c_f_pointer(text, letters, [strlen(text)])
    string = repeat(' ', size(letters))
    do i = 1, size(letters)
      string(i:i) = letters(i)
    end do
  end function

  type(clarg_t) function clarg_integer(value) result(arg)
    integer(c_int), intent(in) :: value
    arg = clarg_t(c_sizeof(value), STDCL_VALUE, transfer([value, 0], 0_c_int64_t), 'int' // c_null_char)
  end function

  type(clarg_t) function clarg_long(value) result(arg)
    integer(c_int64_t), intent(in) :: value
    arg = clarg_t(c_sizeof(value), STDCL_VALUE, value, 'long' // c_null_char)
  end function

  type(clarg_t) function clarg_float(value) result(arg)
    real(c_float), intent(in) :: value
    arg = clarg_t(c_sizeof(value), STDCL_VALUE, transfer([value, 0.0_c_float], 0_c_int64_t), 'float' // c_null_char)
  end function

  type(clarg_t) function clarg_double(value) result(arg)
    real(c_double), intent(in) :: value
    arg = clarg_t(c_sizeof(value), STDCL_VALUE, transfer(value, 0_c_int64_t), 'double' // c_null_char)
  end function

  type(clarg_t) function clarg_memory(value) result(arg)
    type(c_ptr), intent(in) :: value
    arg = clarg_t(c_sizeof(value), STDCL_GLOBAL, transfer(value, 0_c_int64_t), 'pointer' // c_null_char)
  end function

  type(clarg_t) function clarg_local(bytes) result(arg)
    integer, intent(in) :: bytes
    arg = clarg_t(c_sizeof(0_c_size_t), STDCL_LOCAL, int(bytes, c_int64_t), c_null_char)
  end function

  type(clndrange_t) function clndrange_sizes(global, local) result(ndr)
    integer(c_size_t), intent(in) :: global(:)
    integer(c_size_t), intent(in), optional :: local(:)
    ndr%dim = size(global)
    ndr%gtid(:size(global)) = global
    if (present(local)) ndr%ltid(:size(local)) = local
  end function

  type(clndrange_t) function clndrange_size(global, local) result(ndr)
    integer(c_size_t), intent(in) :: global
    integer(c_size_t), intent(in), optional :: local
    ndr = clndrange_sizes([global])
    if (present(local)) ndr%ltid(1) = local
  end function

  type(clndrange_t) function clndrange_integer(global, local) result(ndr)
    integer(c_int), intent(in) :: global
    integer(c_int), intent(in), optional :: local
    ndr = clndrange_sizes([int(global, c_size_t)])
    if (present(local)) ndr%ltid(1) = local
  end function

  ! Set arguments 0, 1, ... of a kernel and launch it, in one step; returns as clfork does.
  integer(c_intptr_t) function clforka(cp, dev, krn, ndr, flags, args) result(event)
    type(c_ptr), intent(in) :: cp, krn
    integer(c_int), intent(in) :: dev, flags
    type(clndrange_t), intent(in) :: ndr
    type(clarg_t), intent(in) :: args(:)
    type(stdcl_arg) :: list(size(args) + 1)
    type(clndrange_t) :: range
    integer(c_int64_t), target :: values(size(args))
    character(kind=c_char), target :: types(8, size(args))
    integer :: i, j
    do i = 1, size(args)
      values(i) = args(i)%value
      list(i) = stdcl_arg(args(i)%bytes, args(i)%kind, c_loc(values(i)), c_null_ptr)
      if (args(i)%kind == STDCL_LOCAL) cycle
      types(:, i) = [(args(i)%type(j:j), j = 1, 8)]
      list(i)%type = c_loc(types(1, i))
    end do
    range = ndr
    event = stdcl_forka(cp, dev, krn, range, flags, size(args), list)
  end function
end module
