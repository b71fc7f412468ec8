"""The C interface of stdcl. Made by tools/bindings/generate.py from the headers: do not edit."""
# SPDX-License-Identifier: MIT
from ctypes import *  # noqa: F403

VERSION = '1.0.0'

class arrays_options(Structure):  # noqa: F405
    _fields_ = [
        ("ctx", c_void_p),
        ("type", c_int),
        ("accumulator", c_int),
        ("method", c_int),
        ("shape", c_char_p),
        ("progress", CFUNCTYPE(c_int, c_void_p, c_uint64)),
        ("arg", c_void_p),
        ("first_device", c_uint32),
        ("devices", c_uint32),
        ("reserved", c_size_t * 8),
    ]

class arrays_histogram_job(Structure):  # noqa: F405
    _fields_ = [
        ("x", c_void_p),
        ("bins", c_void_p),
        ("type", c_int),
        ("of_bytes", c_int),
        ("lower", c_double),
        ("upper", c_double),
        ("nbins", c_uint32),
        ("most", c_size_t),
        ("count", c_void_p),
        ("reserved", c_size_t * 8),
    ]

class arrays_by_key_job(Structure):  # noqa: F405
    _fields_ = [
        ("keys", c_void_p),
        ("values", c_void_p),
        ("unique", c_void_p),
        ("sums", c_void_p),
        ("runs", c_void_p),
        ("bytes", c_int),
        ("type", c_int),
        ("most", c_size_t),
        ("count", c_void_p),
        ("reserved", c_size_t * 8),
    ]

class arrays_scan_job(Structure):  # noqa: F405
    _fields_ = [
        ("x", c_void_p),
        ("sums", c_void_p),
        ("total", c_void_p),
        ("bytes", c_int),
        ("floating", c_int),
        ("inclusive", c_int),
        ("most", c_size_t),
        ("count", c_void_p),
        ("work", c_void_p),
        ("reserved", c_size_t * 8),
    ]

class arrays_segments_job(Structure):  # noqa: F405
    _fields_ = [
        ("x", c_void_p),
        ("offsets", c_void_p),
        ("sums", c_void_p),
        ("type", c_int),
        ("most", c_size_t),
        ("segments", c_size_t),
        ("reserved", c_size_t * 8),
    ]

class arrays_select_job(Structure):  # noqa: F405
    _fields_ = [
        ("x", c_void_p),
        ("flags", c_void_p),
        ("out", c_void_p),
        ("selected", c_void_p),
        ("bytes", c_int),
        ("most", c_size_t),
        ("count", c_void_p),
        ("reserved", c_size_t * 8),
    ]

class arrays_sort_job(Structure):  # noqa: F405
    _fields_ = [
        ("keys", c_void_p),
        ("values", c_void_p),
        ("bytes", c_int),
        ("value_bytes", c_int),
        ("order", c_int),
        ("descending", c_int),
        ("first_bit", c_int),
        ("bits", c_int),
        ("most", c_size_t),
        ("count", c_void_p),
        ("work", c_void_p),
        ("reserved", c_size_t * 8),
    ]

class arrays_sorter_options(Structure):  # noqa: F405
    _fields_ = [
        ("ctx", c_void_p),
        ("dev", c_uint32),
        ("shape", c_char_p),
        ("reserved", c_size_t * 8),
    ]

class cltune_knob(Structure):  # noqa: F405
    _fields_ = [
        ("key", c_char_p),
        ("values", c_void_p),
        ("count", c_size_t),
    ]

class cltune_kernel(Structure):  # noqa: F405
    _fields_ = [
        ("name", c_char_p),
        ("unit", c_char_p),
        ("knob", POINTER(cltune_knob)),
        ("nknobs", c_size_t),
        ("sizes", c_void_p),
        ("nsizes", c_size_t),
        ("open", CFUNCTYPE(c_void_p, c_void_p, c_void_p, c_size_t)),
        ("close", CFUNCTYPE(None, c_void_p)),
        ("allowed", CFUNCTYPE(c_int, c_void_p, c_char_p)),
        ("verify", CFUNCTYPE(c_int, c_void_p, c_char_p)),
        ("measure", CFUNCTYPE(c_int, c_void_p, c_char_p, c_void_p, c_void_p)),
        ("arg", c_void_p),
        ("like", c_char_p),
        ("reserved", c_size_t * 7),
    ]

class clarg_info_t(Structure):  # noqa: F405
    _fields_ = [
        ("kind", c_int),
        ("type", c_char_p),
        ("name", c_char_p),
    ]

class clndrange_struct(Structure):  # noqa: F405
    _fields_ = [
        ("dim", c_size_t),
        ("gtid_offset", c_size_t * 4),
        ("gtid", c_size_t * 4),
        ("ltid", c_size_t * 4),
    ]

class stdcl_arg(Structure):  # noqa: F405
    _fields_ = [
        ("size", c_size_t),
        ("kind", c_int),
        ("value", c_void_p),
        ("type", c_char_p),
    ]

class cldev_info(Structure):  # noqa: F405
    _fields_ = [
        ("dev_type", c_uint64),
        ("dev_vendor_id", c_uint32),
        ("dev_max_core", c_uint32),
        ("dev_max_wi_dim", c_uint32),
        ("dev_max_wi_sz", c_size_t * 4),
        ("dev_max_wi_sz_is_symmetric", c_uint32),
        ("dev_max_wg_sz", c_size_t),
        ("dev_pref_vec_char", c_uint32),
        ("dev_pref_vec_short", c_uint32),
        ("dev_pref_vec_int", c_uint32),
        ("dev_pref_vec_long", c_uint32),
        ("dev_pref_vec_float", c_uint32),
        ("dev_pref_vec_double", c_uint32),
        ("dev_max_freq", c_uint32),
        ("dev_addr_bits", c_uint64),
        ("dev_global_mem_sz", c_uint64),
        ("dev_max_mem_alloc_sz", c_uint64),
        ("dev_img_sup", c_uint32),
        ("dev_max_img_args_r", c_uint32),
        ("dev_max_img_args_w", c_uint32),
        ("dev_img2d_max_width", c_size_t),
        ("dev_img2d_max_height", c_size_t),
        ("dev_img3d_max_width", c_size_t),
        ("dev_img3d_max_height", c_size_t),
        ("dev_img3d_max_depth", c_size_t),
        ("dev_max_samplers", c_uint32),
        ("dev_max_param_sz", c_size_t),
        ("dev_mem_base_addr_align", c_uint32),
        ("dev_name", c_char * 256),
        ("dev_vendor", c_char * 256),
        ("dev_version", c_char * 256),
        ("dev_drv_version", c_char * 256),
        ("dev_local_mem_sz", c_uint64),
    ]

class clvalue_as(Union):  # noqa: F405
    _fields_ = [("integer", c_longlong), ("natural", c_ulonglong), ("number", c_double), ("string", c_char_p), ("table", c_void_p)]

class clvalue(Structure):  # noqa: F405
    _fields_ = [
        ("name", c_char_p),
        ("kind", c_int),
        ("as", clvalue_as),
    ]

class clpeak_info(Structure):  # noqa: F405
    _fields_ = [
        ("flops_single", c_double),
        ("flops_double", c_double),
        ("bytes_per_s", c_double),
        ("flops_tensor", c_double),
    ]

class clprofile_row(Structure):  # noqa: F405
    _fields_ = [
        ("device", c_uint32),
        ("name", c_char_p),
        ("kind", c_int),
        ("count", c_size_t),
        ("timed", c_size_t),
        ("total", c_double),
        ("minimum", c_double),
        ("maximum", c_double),
        ("bytes", c_double),
        ("flops", c_double),
        ("peak_percent", c_double),
    ]

class clstat_info(Structure):  # noqa: F405
    _fields_ = [
        ("impid", c_uint32),
        ("ndev", c_uint32),
        ("nprg", c_uint32),
        ("nkrn", c_uint32),
    ]

class cltune_key(Structure):  # noqa: F405
    _fields_ = [
        ("name", c_char_p),
        ("offset", c_size_t),
        ("least", c_int),
        ("most", c_int),
        ("value", c_int),
        ("kinds", c_uint),
    ]

class cltune_rules(Structure):  # noqa: F405
    _fields_ = [
        ("name", c_char_p),
        ("keys", POINTER(cltune_key)),
        ("kind", c_uint),
        ("defaults", CFUNCTYPE(None, c_void_p, c_void_p)),
        ("fit", CFUNCTYPE(c_int, c_void_p, c_int, c_void_p)),
        ("arg", c_void_p),
        ("reserved", c_size_t * 8),
    ]

class cltune_row(Structure):  # noqa: F405
    _fields_ = [
        ("shape", c_char * 512),
        ("source", c_char * 256),
    ]

class gas_options(Structure):  # noqa: F405
    _fields_ = [
        ("ctx", c_void_p),
        ("n", c_uint64),
        ("temperature", c_double),
        ("mass", c_double),
        ("boltzmann", c_double),
        ("seed", c_uint64),
        ("storage", c_int),
        ("source", c_int),
        ("type", c_int),
        ("accumulator", c_int),
        ("method", c_int),
        ("shape", c_char_p),
        ("progress", CFUNCTYPE(c_int, c_void_p, c_uint64)),
        ("arg", c_void_p),
        ("world", c_void_p),
        ("reserved", c_size_t * 8),
    ]

class gas_energy(Structure):  # noqa: F405
    _fields_ = [
        ("mean_energy", c_double),
        ("expected", c_double),
        ("standard_error", c_double),
        ("sigmas", c_double),
        ("temperature", c_double),
    ]

class gas_species(Structure):  # noqa: F405
    _fields_ = [
        ("name", c_char_p),
        ("formula", c_char_p),
        ("mass", c_double),
    ]

class life_number(Structure):  # noqa: F405
    _fields_ = [
        ("low", c_uint64),
        ("high", c_int64),
    ]

class life_box(Structure):  # noqa: F405
    _fields_ = [
        ("left", life_number),
        ("top", life_number),
        ("right", life_number),
        ("bottom", life_number),
    ]

class life_cells(Structure):  # noqa: F405
    _fields_ = [
        ("width", c_size_t),
        ("height", c_size_t),
        ("stride", c_size_t),
        ("word", c_void_p),
    ]

class life_census_options(Structure):  # noqa: F405
    _fields_ = [
        ("ctx", c_void_p),
        ("rule", c_char_p),
        ("width", c_size_t),
        ("height", c_size_t),
        ("density", c_double),
        ("seed", c_uint64),
        ("first", c_uint64),
        ("generations", c_uint64),
        ("progress", CFUNCTYPE(c_int, c_void_p, c_double)),
        ("arg", c_void_p),
        ("symmetry", c_char_p),
        ("root", c_char_p),
        ("reserved", c_size_t * 8),
    ]

class life_object(Structure):  # noqa: F405
    _fields_ = [
        ("code", c_char_p),
        ("period", c_uint),
        ("dx", c_int),
        ("dy", c_int),
        ("count", c_uint64),
        ("error", c_double),
        ("share", c_double),
        ("share_error", c_double),
        ("soup", c_uint64),
    ]

class life_census_totals(Structure):  # noqa: F405
    _fields_ = [
        ("soups", c_uint64),
        ("objects", c_uint64),
        ("generations", c_uint64),
        ("undecided", c_uint64),
        ("undecided_soup", c_uint64 * 8),
        ("objects_error", c_double),
    ]

class life_options(Structure):  # noqa: F405
    _fields_ = [
        ("ctx", c_void_p),
        ("engine", c_int),
        ("width", c_size_t),
        ("height", c_size_t),
        ("bounds", c_int),
        ("rule", c_char_p),
        ("progress", CFUNCTYPE(c_int, c_void_p, c_double)),
        ("arg", c_void_p),
        ("shape", c_char_p),
        ("world", c_void_p),
        ("grid", c_char_p),
        ("transitions", c_void_p),
        ("memory", c_size_t),
        ("threads", c_uint),
        ("reserved", c_size_t * 8),
    ]

class life_identity(Structure):  # noqa: F405
    _fields_ = [
        ("kind", c_int),
        ("generation", c_uint64),
        ("period", c_uint64),
        ("dx", c_longlong),
        ("dy", c_longlong),
        ("growth", c_uint64),
        ("least", c_uint64),
        ("most", c_uint64),
        ("mean", c_double),
        ("heat", c_double),
        ("symmetry", c_char * 8),
        ("code", c_char_p),
        ("objects", c_size_t),
        ("object", POINTER(life_object)),
    ]

class life_cell(Structure):  # noqa: F405
    _fields_ = [
        ("x", c_longlong),
        ("y", c_longlong),
    ]

class life_sample(Structure):  # noqa: F405
    _fields_ = [
        ("generation", c_uint64),
        ("population", c_uint64),
        ("hash", c_uint64),
    ]

class life_rule(Structure):  # noqa: F405
    _fields_ = [
        ("birth", c_uint),
        ("survival", c_uint),
    ]

class life_statistics(Structure):  # noqa: F405
    _fields_ = [
        ("collections", c_uint64),
        ("tiles", c_uint64),
        ("tiles_computed", c_uint64),
    ]

class life_sweep_options(Structure):  # noqa: F405
    _fields_ = [
        ("ctx", c_void_p),
        ("soups", c_uint),
        ("density", c_double),
        ("seed", c_uint64),
        ("generations", c_uint32),
        ("progress", CFUNCTYPE(c_int, c_void_p, c_double)),
        ("arg", c_void_p),
        ("reserved", c_size_t * 8),
    ]

class life_sweep_result(Structure):  # noqa: F405
    _fields_ = [
        ("density", c_double),
        ("activity", c_double),
        ("soups", c_uint32),
        ("extinct", c_uint32),
        ("settled", c_uint32),
        ("period", c_uint32),
    ]

class matmul_options(Structure):  # noqa: F405
    _fields_ = [
        ("ctx", c_void_p),
        ("kind", c_int),
        ("precision", c_int),
        ("block", c_size_t),
        ("shape", c_char_p),
        ("memory", c_size_t),
        ("progress", CFUNCTYPE(c_int, c_void_p, c_double)),
        ("arg", c_void_p),
        ("world", c_void_p),
        ("reserved", c_size_t * 8),
    ]

class matmul_out_of_core(Structure):  # noqa: F405
    _fields_ = [
        ("read", CFUNCTYPE(c_int, c_void_p, c_size_t, c_size_t, c_size_t, c_size_t, c_void_p)),
        ("write", CFUNCTYPE(c_int, c_void_p, c_size_t, c_size_t, c_size_t, c_size_t, c_void_p)),
        ("arg", c_void_p),
    ]

class nbody_force_errors(Structure):  # noqa: F405
    _fields_ = [
        ("bodies", c_size_t),
        ("median", c_double),
        ("p90", c_double),
        ("p99", c_double),
        ("p999", c_double),
        ("most", c_double),
        ("worst", c_size_t),
    ]

class nbody_contact(Structure):  # noqa: F405
    _fields_ = [
        ("first", c_size_t),
        ("second", c_size_t),
        ("before", c_double),
    ]

class nbody_field(Structure):  # noqa: F405
    _fields_ = [
        ("kind", c_int),
        ("strength", c_double),
        ("scale", c_double),
    ]

class nbody_whfast_options(Structure):  # noqa: F405
    _fields_ = [
        ("coordinates", c_int),
        ("corrector", c_int),
        ("safe", c_int),
        ("reserved", c_size_t * 8),
    ]

class nbody_trace_options(Structure):  # noqa: F405
    _fields_ = [
        ("hill", c_double),
        ("pericentre", c_double),
        ("reserved", c_size_t * 8),
    ]

class nbody_options(Structure):  # noqa: F405
    _fields_ = [
        ("ctx", c_void_p),
        ("integrator", c_int),
        ("precision", c_int),
        ("kernel", c_int),
        ("G", c_double),
        ("eps", c_double),
        ("dt", c_double),
        ("burst", c_size_t),
        ("shares", c_void_p),
        ("progress", CFUNCTYPE(c_int, c_void_p, c_double)),
        ("arg", c_void_p),
        ("shape", c_char_p),
        ("method", c_int),
        ("accuracy", c_double),
        ("fields", POINTER(nbody_field)),
        ("nfields", c_size_t),
        ("softening", c_void_p),
        ("stepping", c_int),
        ("eta", c_double),
        ("world", c_void_p),
        ("place", c_int),
        ("whfast", nbody_whfast_options),
        ("forces", c_char_p),
        ("megno", c_int),
        ("trace", nbody_trace_options),
        ("first_number", c_int),
        ("first", c_size_t),
        ("count", c_size_t),
        ("reserved", c_size_t * 8),
    ]

class nbody_diagnostics(Structure):  # noqa: F405
    _fields_ = [
        ("time", c_double),
        ("kinetic", c_double),
        ("potential", c_double),
        ("total", c_double),
        ("momentum", c_double * 3),
        ("angular_momentum", c_double * 3),
        ("virial_ratio", c_double),
    ]

class nbody_ensemble_options(Structure):  # noqa: F405
    _fields_ = [
        ("ctx", c_void_p),
        ("G", c_double),
        ("dt", c_double),
        ("integrator", c_int),
        ("progress", CFUNCTYPE(c_int, c_void_p, c_double)),
        ("arg", c_void_p),
        ("whfast", nbody_whfast_options),
        ("megno", c_int),
        ("reserved", c_size_t * 8),
    ]

class nbody_chaos(Structure):  # noqa: F405
    _fields_ = [
        ("megno", c_double),
        ("megno_now", c_double),
        ("lyapunov", c_double),
        ("time", c_double),
    ]

class nbody_system(Structure):  # noqa: F405
    _fields_ = [
        ("status", c_int),
        ("bodies", c_size_t),
        ("time", c_double),
        ("energy_lost", c_double),
    ]

class nbody_ensemble_watch_options(Structure):  # noqa: F405
    _fields_ = [
        ("stop_distance", c_double),
        ("radius", c_void_p),
        ("merge", c_int),
        ("reserved", c_size_t * 8),
    ]

class nbody_event_record(Structure):  # noqa: F405
    _fields_ = [
        ("rule", c_size_t),
        ("body", c_size_t),
        ("other", c_size_t),
        ("time", c_double),
        ("pos", c_double * 3),
        ("vel", c_double * 3),
    ]

class nbody_elements(Structure):  # noqa: F405
    _fields_ = [
        ("semi_major", c_double),
        ("eccentricity", c_double),
        ("inclination", c_double),
        ("node", c_double),
        ("pericentre", c_double),
        ("mean_anomaly", c_double),
        ("period", c_double),
    ]

class nbody_shell(Structure):  # noqa: F405
    _fields_ = [
        ("fraction", c_double),
        ("radius", c_double),
        ("mean_mass", c_double),
        ("radial", c_double),
        ("tangential", c_double),
        ("anisotropy", c_double),
    ]

class nbody_binary(Structure):  # noqa: F405
    _fields_ = [
        ("first", c_size_t),
        ("second", c_size_t),
        ("orbit", nbody_elements),
    ]

class nbody_structure(Structure):  # noqa: F405
    _fields_ = [
        ("centre", c_double * 3),
        ("velocity", c_double * 3),
        ("core_radius", c_double),
        ("half_mass_radius", c_double),
        ("relaxation_time", c_double),
        ("escapers", c_size_t),
        ("binaries", c_size_t),
        ("binary", POINTER(nbody_binary)),
    ]

class nbody_integrator_info(Structure):  # noqa: F405
    _fields_ = [
        ("name", c_char_p),
        ("about", c_char_p),
        ("order", c_int),
        ("derivatives", c_int),
    ]

class nbody_event_rule(Structure):  # noqa: F405
    _fields_ = [
        ("kind", c_int),
        ("body", c_size_t),
        ("other", c_size_t),
        ("limit", c_double),
        ("axis", c_int),
        ("stop", c_int),
    ]

class stdcl_embedded(Structure):  # noqa: F405
    _fields_ = [
        ("name", c_char_p),
        ("data", c_void_p),
        ("size", c_size_t),
        ("next", c_void_p),
    ]

class stdcl_embedded_binary(Structure):  # noqa: F405
    _fields_ = [
        ("source", POINTER(stdcl_embedded)),
        ("device", c_char_p),
        ("data", c_void_p),
        ("size", c_size_t),
        ("next", c_void_p),
    ]

class view_region(Structure):  # noqa: F405
    _fields_ = [
        ("x", c_int64),
        ("y", c_int64),
        ("width", c_uint32),
        ("height", c_uint32),
        ("zoom", c_uint32),
    ]

class view_command(Structure):  # noqa: F405
    _fields_ = [
        ("ask", c_int),
        ("value", c_double),
        ("region", view_region),
        ("bits", c_uint8 * 1536),
        ("rule", c_char * 512),
    ]

class view_bodies(Structure):  # noqa: F405
    _fields_ = [
        ("total", c_size_t),
        ("mass", c_void_p),
        ("group", c_void_p),
        ("moving", c_int),
        ("length", c_char_p),
        ("speed", c_char_p),
        ("weight", c_char_p),
        ("gravity", c_double),
        ("names", c_void_p),
    ]

class view_field(Structure):  # noqa: F405
    _fields_ = [
        ("width", c_uint64),
        ("height", c_uint64),
        ("bounds", c_char_p),
        ("rule", c_char_p),
        ("states", c_uint),
        ("colours", c_void_p),
    ]

class view_histogram(Structure):  # noqa: F405
    _fields_ = [
        ("quantity", c_char_p),
        ("unit", c_char_p),
        ("counted", c_char_p),
        ("model", c_char_p),
    ]

class view_table(Structure):  # noqa: F405
    _fields_ = [
        ("row", c_char_p),
        ("column", c_char_p),
        ("quantity", c_char_p),
        ("unit", c_char_p),
        ("rows", c_void_p),
        ("columns", c_void_p),
    ]

class view_options(Structure):  # noqa: F405
    _fields_ = [
        ("program", c_char_p),
        ("title", c_char_p),
        ("address", c_char_p),
        ("record", c_char_p),
        ("rate", c_double),
        ("budget", c_double),
        ("can", c_uint),
        ("replay", c_void_p),
        ("frames", c_uint64),
        ("from", c_double),
        ("to", c_double),
        ("step", c_char_p),
        ("time", c_char_p),
        ("time_unit", c_char_p),
        ("step_time", c_double),
        ("facts", c_void_p),
        ("points", view_bodies),
        ("cells", view_field),
        ("bars", view_histogram),
        ("grid", view_table),
        ("rows", c_void_p),
        ("tokens", c_char_p),
        ("framed", c_int),
        ("reserved", c_size_t * 8),
    ]

class view_state(Structure):  # noqa: F405
    _fields_ = [
        ("paused", c_int),
        ("speed", c_double),
        ("steps", c_double),
        ("fraction", c_double),
        ("frame", c_uint64),
    ]

class view_moment(Structure):  # noqa: F405
    _fields_ = [
        ("time", c_double),
        ("step", c_uint64),
        ("last", c_int),
    ]

class view_cells(Structure):  # noqa: F405
    _fields_ = [
        ("region", view_region),
        ("body", c_void_p),
    ]

class view_points(Structure):  # noqa: F405
    _fields_ = [
        ("at", view_moment),
        ("count", c_size_t),
        ("pos", c_void_p),
        ("vel", c_void_p),
        ("instants", c_size_t),
        ("path_time", c_void_p),
        ("path", c_void_p),
    ]

class view_profile(Structure):  # noqa: F405
    _fields_ = [
        ("title", c_char_p),
        ("x", c_char_p),
        ("unit", c_char_p),
        ("logarithmic", c_int),
        ("bins", c_size_t),
        ("edge", c_void_p),
        ("value", c_void_p),
    ]

class world_options(Structure):  # noqa: F405
    _fields_ = [
        ("on_abort", CFUNCTYPE(None, c_void_p, c_char_p)),
        ("arg", c_void_p),
        ("reserved", c_size_t * 8),
    ]

# name: (library, its result's type and the list of its arguments' types), which are looked at on first use
FUNCTIONS = {
    "arrays_argmax": ("arrays", "c_int, [c_void_p, c_void_p, c_size_t, c_void_p]"),
    "arrays_argmin": ("arrays", "c_int, [c_void_p, c_void_p, c_size_t, c_void_p]"),
    "arrays_create": ("arrays", "c_void_p, [POINTER(arrays_options)]"),
    "arrays_dot": ("arrays", "c_int, [c_void_p, c_void_p, c_void_p, c_size_t, c_void_p]"),
    "arrays_dot_start": ("arrays", "c_int, [c_void_p, c_void_p, c_void_p, c_size_t, c_void_p]"),
    "arrays_explain": ("arrays", "c_char_p, [c_void_p, c_uint32]"),
    "arrays_free": ("arrays", "None, [c_void_p]"),
    "arrays_histogram": ("arrays", "c_int, [c_void_p, POINTER(arrays_histogram_job)]"),
    "arrays_histogram_start": ("arrays", "c_int, [c_void_p, POINTER(arrays_histogram_job)]"),
    "arrays_max": ("arrays", "c_int, [c_void_p, c_void_p, c_size_t, c_void_p]"),
    "arrays_max_start": ("arrays", "c_int, [c_void_p, c_void_p, c_size_t, c_void_p]"),
    "arrays_mean": ("arrays", "c_int, [c_void_p, c_void_p, c_size_t, c_void_p]"),
    "arrays_min": ("arrays", "c_int, [c_void_p, c_void_p, c_size_t, c_void_p]"),
    "arrays_min_start": ("arrays", "c_int, [c_void_p, c_void_p, c_size_t, c_void_p]"),
    "arrays_partition": ("arrays", "None, [c_void_p, c_size_t, c_uint32, c_void_p, c_void_p]"),
    "arrays_reduce_by_key": ("arrays", "c_int, [c_void_p, POINTER(arrays_by_key_job)]"),
    "arrays_reduce_by_key_start": ("arrays", "c_int, [c_void_p, POINTER(arrays_by_key_job)]"),
    "arrays_scan": ("arrays", "c_int, [c_void_p, POINTER(arrays_scan_job)]"),
    "arrays_scan_start": ("arrays", "c_int, [c_void_p, POINTER(arrays_scan_job)]"),
    "arrays_scan_workspace": ("arrays", "c_size_t, [c_void_p, POINTER(arrays_scan_job)]"),
    "arrays_segmented_sum": ("arrays", "c_int, [c_void_p, POINTER(arrays_segments_job)]"),
    "arrays_segmented_sum_start": ("arrays", "c_int, [c_void_p, POINTER(arrays_segments_job)]"),
    "arrays_select": ("arrays", "c_int, [c_void_p, POINTER(arrays_select_job)]"),
    "arrays_select_start": ("arrays", "c_int, [c_void_p, POINTER(arrays_select_job)]"),
    "arrays_shape": ("arrays", "c_char_p, [c_void_p, c_uint32]"),
    "arrays_sort": ("arrays", "c_int, [c_void_p, POINTER(arrays_sort_job)]"),
    "arrays_sort_start": ("arrays", "c_int, [c_void_p, POINTER(arrays_sort_job)]"),
    "arrays_sort_workspace": ("arrays", "c_size_t, [c_void_p, POINTER(arrays_sort_job)]"),
    "arrays_sorter_create": ("arrays", "c_void_p, [POINTER(arrays_sorter_options)]"),
    "arrays_sorter_explain": ("arrays", "c_char_p, [c_void_p]"),
    "arrays_sorter_free": ("arrays", "None, [c_void_p]"),
    "arrays_sorter_shape": ("arrays", "c_char_p, [c_void_p]"),
    "arrays_sum": ("arrays", "c_int, [c_void_p, c_void_p, c_size_t, c_void_p]"),
    "arrays_sum_integer": ("arrays", "c_int, [c_void_p, c_void_p, c_size_t, c_void_p]"),
    "arrays_sum_squares": ("arrays", "c_int, [c_void_p, c_void_p, c_void_p, c_void_p, c_size_t, c_void_p]"),
    "arrays_sum_start": ("arrays", "c_int, [c_void_p, c_void_p, c_size_t, c_void_p]"),
    "arrays_tune_kernels": ("arrays", "POINTER(cltune_kernel), [c_void_p]"),
    "arrays_unique": ("arrays", "c_int, [c_void_p, POINTER(arrays_select_job)]"),
    "arrays_unique_start": ("arrays", "c_int, [c_void_p, POINTER(arrays_select_job)]"),
    "arrays_upload": ("arrays", "c_int, [c_void_p, c_void_p, c_size_t]"),
    "arrays_variance": ("arrays", "c_int, [c_void_p, c_void_p, c_size_t, c_void_p, c_void_p]"),
    "clarg_info": ("stdcl", "c_int, [c_void_p, c_uint32, POINTER(clarg_info_t)]"),
    "clarg_is_read_only": ("stdcl", "c_int, [c_void_p, c_uint32]"),
    "clarg_set_global": ("stdcl", "c_size_t, [c_void_p, c_void_p, c_uint32, c_void_p]"),
    "clbuild": ("stdcl", "c_int, [c_void_p, c_void_p, c_char_p, c_int]"),
    "clclose": ("stdcl", "c_int, [c_void_p, c_void_p]"),
    "clcontext_adopt": ("stdcl", "c_void_p, [c_void_p, c_size_t, c_void_p]"),
    "clcontext_create": ("stdcl", "c_void_p, [c_char_p, c_int, c_size_t, c_void_p, c_int]"),
    "clcontext_create_from": ("stdcl", "c_void_p, [c_void_p, c_size_t]"),
    "clcontext_create_stdnpu": ("stdcl", "c_void_p, [c_char_p, c_int, c_size_t, c_void_p, c_int]"),
    "clcontext_destroy": ("stdcl", "c_int, [c_void_p]"),
    "clerror": ("stdcl", "c_char_p, []"),
    "clerror_set": ("stdcl", "c_int, [c_int, c_char_p]"),
    "clerror_str": ("stdcl", "c_char_p, [c_int]"),
    "clexecv": ("stdcl", "c_size_t, [c_void_p, c_uint32, POINTER(clndrange_struct), c_int, c_char_p, c_uint32, POINTER(stdcl_arg)]"),
    "clflush": ("stdcl", "c_int, [c_void_p, c_uint32, c_int]"),
    "clfork": ("stdcl", "c_size_t, [c_void_p, c_uint32, c_void_p, POINTER(clndrange_struct), c_int]"),
    "clforkv": ("stdcl", "c_size_t, [c_void_p, c_uint32, c_void_p, POINTER(clndrange_struct), c_int, c_uint32, POINTER(stdcl_arg)]"),
    "clfree": ("stdcl", "c_int, [c_void_p]"),
    "clfreport_devinfo": ("stdcl", "None, [c_void_p, c_size_t, POINTER(cldev_info)]"),
    "clgetbuffer": ("stdcl", "c_void_p, [c_void_p, c_uint32, c_void_p]"),
    "clgetclcontext": ("stdcl", "c_void_p, [c_void_p, c_uint32]"),
    "clgetdevice": ("stdcl", "c_void_p, [c_void_p, c_uint32]"),
    "clgetdevinfo": ("stdcl", "c_int, [c_void_p, POINTER(cldev_info)]"),
    "clgetndev": ("stdcl", "c_uint32, [c_void_p]"),
    "clgetqueue": ("stdcl", "c_void_p, [c_void_p, c_uint32]"),
    "clglmalloc": ("stdcl", "c_void_p, [c_void_p, c_uint32, c_uint32, c_int32, c_int]"),
    "clglmsync": ("stdcl", "c_size_t, [c_void_p, c_uint32, c_void_p, c_int]"),
    "clload": ("stdcl", "c_void_p, [c_void_p, c_void_p, c_size_t, c_int]"),
    "clloadb": ("stdcl", "c_void_p, [c_void_p, c_int, c_void_p, c_void_p, c_int]"),
    "clmalloc": ("stdcl", "c_void_p, [c_void_p, c_size_t, c_int]"),
    "clmalloc_from": ("stdcl", "c_void_p, [c_void_p, c_void_p, c_size_t, c_int]"),
    "clmattach": ("stdcl", "c_int, [c_void_p, c_void_p]"),
    "clmcopy": ("stdcl", "c_size_t, [c_void_p, c_uint32, c_void_p, c_void_p, c_int]"),
    "clmctl": ("stdcl", "c_int, [c_void_p, c_int]"),
    "clmdetach": ("stdcl", "c_int, [c_void_p]"),
    "clmem_adopt": ("stdcl", "c_void_p, [c_void_p, c_uint32, c_void_p]"),
    "clmemptr": ("stdcl", "c_void_p, [c_void_p, c_void_p]"),
    "clmrealloc": ("stdcl", "c_void_p, [c_void_p, c_void_p, c_size_t, c_int]"),
    "clmrequire": ("stdcl", "c_int, [c_void_p, c_uint32, c_void_p, c_char_p]"),
    "clmsync": ("stdcl", "c_size_t, [c_void_p, c_uint32, c_void_p, c_int]"),
    "clmsyncn": ("stdcl", "c_size_t, [c_void_p, c_uint32, c_void_p, c_size_t, c_int]"),
    "clopen": ("stdcl", "c_void_p, [c_void_p, c_char_p, c_int]"),
    "clopen_named": ("stdcl", "c_void_p, [c_void_p, c_char_p, c_char_p, c_size_t, c_char_p, c_int]"),
    "clopen_template": ("stdcl", "c_void_p, [c_void_p, c_char_p, c_char_p, c_size_t, c_char_p, c_int, c_char_p]"),
    "clopen_templatev": ("stdcl", "c_void_p, [c_void_p, c_char_p, c_char_p, c_size_t, c_char_p, c_int, POINTER(clvalue)]"),
    "clopent": ("stdcl", "c_void_p, [c_void_p, c_char_p, c_int, c_char_p]"),
    "clopentv": ("stdcl", "c_void_p, [c_void_p, c_char_p, c_int, POINTER(clvalue)]"),
    "clpeak": ("stdcl", "c_int, [c_void_p, c_uint32, POINTER(clpeak_info)]"),
    "clpeak_flops": ("stdcl", "c_double, [c_void_p, c_uint32, c_int]"),
    "clperror": ("stdcl", "None, [c_char_p]"),
    "clprofile": ("stdcl", "c_int, [c_void_p, c_int]"),
    "clprofile_begin": ("stdcl", "None, [c_void_p, c_char_p]"),
    "clprofile_end": ("stdcl", "None, [c_void_p]"),
    "clprofile_report": ("stdcl", "c_int, [c_void_p, c_void_p, c_int]"),
    "clprofile_reset": ("stdcl", "c_int, [c_void_p]"),
    "clprofile_rows": ("stdcl", "c_size_t, [c_void_p, POINTER(clprofile_row), c_size_t]"),
    "clprofile_trace": ("stdcl", "c_int, [c_void_p, c_char_p]"),
    "clprofile_work": ("stdcl", "c_int, [c_void_p, c_double, c_double, c_int]"),
    "clrecord_begin": ("stdcl", "c_int, [c_void_p, c_uint32]"),
    "clrecord_end": ("stdcl", "c_void_p, [c_void_p, c_uint32]"),
    "clrecord_free": ("stdcl", "c_int, [c_void_p, c_void_p]"),
    "clrecord_next": ("stdcl", "c_int, [c_void_p, c_uint32]"),
    "clrecord_replay": ("stdcl", "c_size_t, [c_void_p, c_void_p, c_int]"),
    "clrecord_setv": ("stdcl", "c_int, [c_void_p, c_void_p, c_uint32, c_uint32, POINTER(stdcl_arg)]"),
    "clsave": ("stdcl", "c_int, [c_void_p, c_void_p, c_uint32, c_char_p]"),
    "clsizeofmem": ("stdcl", "c_size_t, [c_void_p]"),
    "clsopen": ("stdcl", "c_void_p, [c_void_p, c_char_p, c_int]"),
    "clspec": ("stdcl", "c_int, [c_void_p, c_void_p, c_uint32, c_size_t, c_void_p]"),
    "clstat": ("stdcl", "c_int, [c_void_p, POINTER(clstat_info)]"),
    "clsym": ("stdcl", "c_void_p, [c_void_p, c_void_p, c_char_p, c_int]"),
    "cltemplate": ("stdcl", "c_char_p, [c_char_p, c_char_p, c_size_t, c_char_p]"),
    "cltemplatev": ("stdcl", "c_char_p, [c_char_p, c_char_p, c_size_t, POINTER(clvalue)]"),
    "cltune_choose": ("stdcl", "c_int, [POINTER(cltune_rules), c_void_p, c_uint32, c_char_p, c_size_t, c_char_p, c_void_p, POINTER(cltune_row)]"),
    "cltune_file": ("stdcl", "c_char_p, []"),
    "cltune_find": ("stdcl", "c_int, [c_void_p, c_uint32, c_char_p, c_size_t, POINTER(cltune_row)]"),
    "cltune_fits": ("stdcl", "c_int, [c_void_p, c_uint32, c_char_p]"),
    "cltune_print": ("stdcl", "None, [POINTER(cltune_rules), c_void_p, c_char_p, c_size_t]"),
    "cltune_rows": ("stdcl", "c_int, [c_void_p, c_uint32, c_char_p, POINTER(cltune_row), c_void_p, c_size_t]"),
    "cltune_search": ("stdcl", "c_int, [POINTER(cltune_kernel), c_void_p, c_uint32, c_size_t, c_double, c_ulong, CFUNCTYPE(c_int, c_void_p, c_void_p), c_void_p, POINTER(cltune_row), c_void_p]"),
    "cltune_store": ("stdcl", "c_int, [c_void_p, c_uint32, c_char_p, c_size_t, c_char_p, c_double, c_char_p]"),
    "cltune_time": ("stdcl", "c_int, [CFUNCTYPE(c_int, c_void_p, c_size_t), c_void_p, c_void_p]"),
    "cltune_value": ("stdcl", "c_long, [c_char_p, c_char_p, c_long]"),
    "cltune_warning": ("stdcl", "c_char_p, []"),
    "clwait": ("stdcl", "c_size_t, [c_void_p, c_uint32, c_int]"),
    "clwaitev": ("stdcl", "c_size_t, [c_void_p, c_uint32, c_size_t, c_int]"),
    "gas_bytes": ("gas", "c_double, [c_void_p]"),
    "gas_create": ("gas", "c_void_p, [POINTER(gas_options)]"),
    "gas_explain": ("gas", "c_char_p, [c_void_p, c_uint32]"),
    "gas_free": ("gas", "None, [c_void_p]"),
    "gas_histogram": ("gas", "c_int, [c_void_p, c_double, c_uint, c_void_p]"),
    "gas_measure": ("gas", "c_int, [c_void_p, POINTER(gas_energy)]"),
    "gas_molecules": ("gas", "c_uint64, [c_void_p]"),
    "gas_partition": ("gas", "None, [c_void_p, c_int, c_uint64, c_void_p, c_void_p]"),
    "gas_pressure": ("gas", "c_double, [c_uint64, c_double, c_double]"),
    "gas_set_velocities": ("gas", "c_int, [c_void_p, c_void_p]"),
    "gas_set_velocities_single": ("gas", "c_int, [c_void_p, c_void_p]"),
    "gas_shape": ("gas", "c_char_p, [c_void_p, c_uint32]"),
    "gas_species_list": ("gas", "POINTER(gas_species), []"),
    "gas_speed_cdf": ("gas", "c_double, [c_double, c_double, c_double, c_double]"),
    "gas_tune_kernels": ("gas", "POINTER(cltune_kernel), [c_void_p]"),
    "gas_velocities": ("gas", "c_int, [c_void_p, c_uint64, c_size_t, c_void_p]"),
    "life_bounding_box": ("life", "c_int, [c_void_p, POINTER(life_box)]"),
    "life_bounds_of": ("life", "c_int, [c_void_p]"),
    "life_bounds_split": ("life", "c_int, [c_char_p, c_void_p, c_void_p, c_void_p]"),
    "life_cells_alloc": ("life", "c_int, [POINTER(life_cells), c_size_t, c_size_t]"),
    "life_cells_free": ("life", "None, [POINTER(life_cells)]"),
    "life_census_create": ("life", "c_void_p, [POINTER(life_census_options)]"),
    "life_census_free": ("life", "None, [c_void_p]"),
    "life_census_objects": ("life", "POINTER(life_object), [c_void_p, c_void_p]"),
    "life_census_run": ("life", "c_int, [c_void_p, c_uint64]"),
    "life_census_total": ("life", "None, [c_void_p, POINTER(life_census_totals)]"),
    "life_choice": ("life", "c_char_p, [c_void_p]"),
    "life_choose": ("life", "c_int, [POINTER(life_options), c_void_p]"),
    "life_clear": ("life", "c_int, [c_void_p]"),
    "life_create": ("life", "c_void_p, [POINTER(life_options)]"),
    "life_density": ("life", "c_int, [c_void_p, c_longlong, c_longlong, c_size_t, c_size_t, c_uint, c_void_p]"),
    "life_device_bytes": ("life", "c_size_t, [c_void_p]"),
    "life_devices": ("life", "c_uint, [c_void_p]"),
    "life_engine_by_name": ("life", "c_int, [c_char_p]"),
    "life_engine_name": ("life", "c_char_p, [c_int]"),
    "life_engine_of": ("life", "c_int, [c_void_p]"),
    "life_explain": ("life", "c_char_p, [c_void_p, c_uint]"),
    "life_free": ("life", "None, [c_void_p]"),
    "life_generation": ("life", "c_uint64, [c_void_p]"),
    "life_get": ("life", "c_int, [c_void_p, c_longlong, c_longlong, POINTER(life_cells)]"),
    "life_get_list": ("life", "c_void_p, [c_void_p]"),
    "life_get_states": ("life", "c_int, [c_void_p, c_longlong, c_longlong, c_size_t, c_size_t, c_void_p]"),
    "life_get_zoomed": ("life", "c_int, [c_void_p, c_uint, c_longlong, c_longlong, POINTER(life_cells)]"),
    "life_grid_split": ("life", "c_int, [c_char_p, c_void_p, c_void_p, c_void_p, c_void_p]"),
    "life_grid_text": ("life", "c_char_p, [c_void_p, c_void_p]"),
    "life_height": ("life", "c_size_t, [c_void_p]"),
    "life_identify": ("life", "POINTER(life_identity), [c_void_p, c_uint64]"),
    "life_identify_cells": ("life", "POINTER(life_identity), [c_char_p, POINTER(life_cells), c_void_p]"),
    "life_identity_free": ("life", "None, [POINTER(life_identity)]"),
    "life_kind_name": ("life", "c_char_p, [c_int]"),
    "life_launches": ("life", "c_uint64, [c_void_p]"),
    "life_list_box": ("life", "c_int, [c_void_p, POINTER(life_cell), c_void_p, c_void_p]"),
    "life_list_cells": ("life", "POINTER(life_cell), [c_void_p]"),
    "life_list_clip": ("life", "c_void_p, [c_void_p, c_longlong, c_longlong, c_uint64, c_uint64]"),
    "life_list_combine": ("life", "c_void_p, [c_void_p, c_void_p, c_int]"),
    "life_list_count": ("life", "c_size_t, [c_void_p]"),
    "life_list_create": ("life", "c_void_p, [POINTER(life_cell), c_size_t]"),
    "life_list_equal": ("life", "c_int, [c_void_p, c_void_p]"),
    "life_list_free": ("life", "None, [c_void_p]"),
    "life_list_halo": ("life", "c_void_p, [c_void_p]"),
    "life_list_match": ("life", "c_void_p, [c_void_p, c_void_p, c_void_p]"),
    "life_list_read_rle": ("life", "c_void_p, [c_char_p]"),
    "life_list_rle": ("life", "c_size_t, [c_void_p, c_char_p, c_char_p, c_size_t]"),
    "life_list_shift": ("life", "c_void_p, [c_void_p, c_longlong, c_longlong]"),
    "life_list_turn": ("life", "c_void_p, [c_void_p, c_int]"),
    "life_measure": ("life", "c_int, [c_void_p, POINTER(life_sample)]"),
    "life_neighbourhood_range": ("life", "c_uint, [c_void_p]"),
    "life_number_double": ("life", "c_double, [life_number]"),
    "life_number_string": ("life", "c_char_p, [life_number, c_char_p]"),
    "life_population": ("life", "c_int, [c_void_p, c_void_p]"),
    "life_population_exact": ("life", "c_int, [c_void_p, POINTER(life_number)]"),
    "life_population_text": ("life", "c_int, [c_void_p, c_void_p]"),
    "life_put": ("life", "c_int, [c_void_p, c_longlong, c_longlong, POINTER(life_cells)]"),
    "life_put_list": ("life", "c_int, [c_void_p, c_void_p]"),
    "life_put_states": ("life", "c_int, [c_void_p, c_longlong, c_longlong, c_size_t, c_size_t, c_void_p]"),
    "life_rows": ("life", "c_size_t, [c_void_p]"),
    "life_rule_name": ("life", "c_char_p, [c_size_t, POINTER(life_rule)]"),
    "life_rule_normal": ("life", "c_int, [c_char_p, c_void_p]"),
    "life_rule_of": ("life", "life_rule, [c_void_p]"),
    "life_rule_parse": ("life", "c_int, [c_char_p, POINTER(life_rule)]"),
    "life_rule_range": ("life", "c_int, [c_char_p]"),
    "life_rule_states": ("life", "c_int, [c_char_p]"),
    "life_rule_string": ("life", "c_char_p, [POINTER(life_rule), c_char_p]"),
    "life_rule_text": ("life", "c_char_p, [c_void_p]"),
    "life_set_generation": ("life", "c_int, [c_void_p, c_uint64]"),
    "life_set_weight": ("life", "c_int, [c_void_p, c_double]"),
    "life_shape": ("life", "c_char_p, [c_void_p, c_uint]"),
    "life_soup": ("life", "c_int, [c_void_p, c_double, c_uint64]"),
    "life_states": ("life", "c_uint, [c_void_p]"),
    "life_statistics_of": ("life", "life_statistics, [c_void_p]"),
    "life_step": ("life", "c_int, [c_void_p, c_uint64]"),
    "life_sweep": ("life", "c_int, [POINTER(life_sweep_options), c_void_p, c_size_t, POINTER(life_sweep_result)]"),
    "life_sweep_class": ("life", "c_char_p, [POINTER(life_sweep_result)]"),
    "life_trace": ("life", "c_int, [c_void_p, c_size_t, POINTER(life_sample)]"),
    "life_transitions_colour": ("life", "c_void_p, [c_void_p, c_uint]"),
    "life_transitions_free": ("life", "None, [c_void_p]"),
    "life_transitions_name": ("life", "c_char_p, [c_void_p]"),
    "life_transitions_named": ("life", "c_void_p, [c_char_p]"),
    "life_transitions_read": ("life", "c_void_p, [c_char_p, c_void_p, c_size_t]"),
    "life_transitions_states": ("life", "c_uint, [c_void_p]"),
    "life_tree_add_bits": ("life", "c_int, [c_void_p, c_uint64, c_void_p]"),
    "life_tree_add_square": ("life", "c_int, [c_void_p, c_int, c_void_p, c_void_p]"),
    "life_tree_add_states": ("life", "c_int, [c_void_p, c_void_p, c_void_p]"),
    "life_tree_set": ("life", "c_int, [c_void_p, c_uint32, c_uint64]"),
    "life_tree_walk": ("life", "c_int, [c_void_p, c_void_p, CFUNCTYPE(c_int, c_void_p, c_uint64), CFUNCTYPE(c_int, c_void_p, c_void_p), CFUNCTYPE(c_int, c_void_p, c_int, c_void_p), c_void_p]"),
    "life_tune_kernels": ("life", "POINTER(cltune_kernel), [c_void_p]"),
    "life_until_stable": ("life", "c_int, [c_void_p, c_uint64, c_void_p, c_void_p, CFUNCTYPE(c_int, c_void_p, c_void_p), c_void_p]"),
    "life_walk_runs": ("life", "c_int, [c_void_p, CFUNCTYPE(c_int, c_void_p, c_longlong, c_longlong, c_uint64, c_uint), c_void_p]"),
    "life_walk_tiles": ("life", "c_int, [c_void_p, CFUNCTYPE(c_int, c_void_p, c_longlong, c_longlong, c_void_p), c_void_p]"),
    "life_width": ("life", "c_size_t, [c_void_p]"),
    "matmul_batch": ("matmul", "c_int, [c_void_p, c_uint32, c_int, c_size_t, c_size_t, c_size_t, c_double, c_void_p, c_size_t, c_size_t, c_void_p, c_size_t, c_size_t, c_double, c_void_p, c_size_t, c_size_t, c_size_t]"),
    "matmul_block_limit": ("matmul", "c_size_t, [c_void_p, c_int]"),
    "matmul_busy_time": ("matmul", "c_double, [c_void_p, c_void_p]"),
    "matmul_compute": ("matmul", "c_int, [c_void_p, c_double, c_double]"),
    "matmul_create": ("matmul", "c_void_p, [POINTER(matmul_options)]"),
    "matmul_double": ("matmul", "c_int, [c_int, c_size_t, c_size_t, c_size_t, c_double, c_void_p, c_size_t, c_void_p, c_size_t, c_double, c_void_p, c_size_t]"),
    "matmul_enqueue": ("matmul", "c_int, [c_void_p, c_uint32, c_int, c_size_t, c_size_t, c_size_t, c_double, c_void_p, c_size_t, c_void_p, c_size_t, c_double, c_void_p, c_size_t]"),
    "matmul_error": ("matmul", "c_double, [c_int, c_int, c_size_t, c_size_t, c_size_t, c_double, c_void_p, c_size_t, c_void_p, c_size_t, c_double, c_void_p, c_void_p, c_size_t, c_size_t]"),
    "matmul_explain": ("matmul", "c_char_p, [c_void_p, c_uint32, c_size_t, c_size_t, c_size_t]"),
    "matmul_free": ("matmul", "None, [c_void_p]"),
    "matmul_kind_by_name": ("matmul", "c_int, [c_char_p]"),
    "matmul_kind_is_host": ("matmul", "c_int, [c_int]"),
    "matmul_kind_missing": ("matmul", "c_char_p, [c_int]"),
    "matmul_kind_name": ("matmul", "c_char_p, [c_int]"),
    "matmul_kind_summary": ("matmul", "c_char_p, [c_int]"),
    "matmul_load": ("matmul", "c_int, [c_void_p, c_int, c_size_t, c_size_t, c_size_t, c_void_p, c_size_t, c_void_p, c_size_t]"),
    "matmul_load_result": ("matmul", "c_int, [c_void_p, c_void_p, c_size_t]"),
    "matmul_multiply": ("matmul", "c_int, [c_void_p, c_int, c_size_t, c_size_t, c_size_t, c_double, c_void_p, c_size_t, c_void_p, c_size_t, c_double, c_void_p, c_size_t]"),
    "matmul_multiply_out_of_core": ("matmul", "c_int, [c_void_p, c_int, c_size_t, c_size_t, c_size_t, c_double, POINTER(matmul_out_of_core), POINTER(matmul_out_of_core), c_double, POINTER(matmul_out_of_core)]"),
    "matmul_partition": ("matmul", "None, [c_void_p, c_int, c_size_t, c_void_p, c_void_p]"),
    "matmul_peak": ("matmul", "c_double, [c_void_p, c_uint32, c_int]"),
    "matmul_random": ("matmul", "None, [c_int, c_uint64, c_uint32, c_size_t, c_size_t, c_void_p, c_size_t]"),
    "matmul_random_rows": ("matmul", "None, [c_int, c_uint64, c_uint32, c_size_t, c_size_t, c_size_t, c_void_p, c_size_t]"),
    "matmul_result": ("matmul", "c_int, [c_void_p, c_void_p, c_size_t]"),
    "matmul_set_weight": ("matmul", "c_int, [c_void_p, c_double]"),
    "matmul_shape": ("matmul", "c_char_p, [c_void_p, c_uint32, c_size_t, c_size_t, c_size_t]"),
    "matmul_single": ("matmul", "c_int, [c_int, c_size_t, c_size_t, c_size_t, c_float, c_void_p, c_size_t, c_void_p, c_size_t, c_float, c_void_p, c_size_t]"),
    "matmul_tolerance": ("matmul", "c_double, [c_int, c_size_t, c_int]"),
    "matmul_tune_kernels": ("matmul", "POINTER(cltune_kernel), [c_void_p]"),
    "nbody_block_counts": ("nbody", "None, [c_void_p, c_void_p, c_void_p]"),
    "nbody_bodies": ("nbody", "c_size_t, [c_void_p]"),
    "nbody_check_forces": ("nbody", "c_int, [c_void_p, c_size_t, c_uint64, POINTER(nbody_force_errors)]"),
    "nbody_contacts": ("nbody", "POINTER(nbody_contact), [c_void_p, c_void_p]"),
    "nbody_create": ("nbody", "c_void_p, [POINTER(nbody_options), c_size_t, c_void_p, c_void_p, c_void_p]"),
    "nbody_device_bodies": ("nbody", "c_size_t, [c_void_p, c_uint]"),
    "nbody_device_bytes": ("nbody", "c_size_t, [c_void_p]"),
    "nbody_devices": ("nbody", "c_uint, [c_void_p]"),
    "nbody_diagnose": ("nbody", "c_int, [c_void_p, POINTER(nbody_diagnostics)]"),
    "nbody_elapsed": ("nbody", "c_double, [c_void_p]"),
    "nbody_ensemble_create": ("nbody", "c_void_p, [POINTER(nbody_ensemble_options), c_size_t, c_size_t, c_void_p, c_void_p, c_void_p]"),
    "nbody_ensemble_energies": ("nbody", "c_int, [c_void_p, c_void_p]"),
    "nbody_ensemble_events": ("nbody", "c_int, [c_void_p, c_size_t, c_void_p, c_void_p, c_void_p]"),
    "nbody_ensemble_find_chaos": ("nbody", "c_int, [c_void_p, c_size_t, c_void_p, POINTER(nbody_chaos)]"),
    "nbody_ensemble_free": ("nbody", "None, [c_void_p]"),
    "nbody_ensemble_load": ("nbody", "c_int, [c_void_p, c_void_p, c_size_t]"),
    "nbody_ensemble_read": ("nbody", "c_int, [c_void_p, c_size_t, c_void_p, c_void_p, c_void_p, c_void_p]"),
    "nbody_ensemble_save": ("nbody", "c_int, [c_void_p, c_void_p]"),
    "nbody_ensemble_save_bytes": ("nbody", "c_size_t, [c_void_p]"),
    "nbody_ensemble_set_dt": ("nbody", "c_int, [c_void_p, c_double]"),
    "nbody_ensemble_state": ("nbody", "c_int, [c_void_p, c_void_p, c_void_p]"),
    "nbody_ensemble_step": ("nbody", "c_int, [c_void_p, c_size_t]"),
    "nbody_ensemble_steps": ("nbody", "c_size_t, [c_void_p]"),
    "nbody_ensemble_systems": ("nbody", "c_int, [c_void_p, c_size_t, c_void_p, POINTER(nbody_system)]"),
    "nbody_ensemble_time": ("nbody", "c_double, [c_void_p]"),
    "nbody_ensemble_watch": ("nbody", "c_int, [c_void_p, POINTER(nbody_ensemble_watch_options)]"),
    "nbody_eta": ("nbody", "c_double, [c_void_p]"),
    "nbody_events": ("nbody", "POINTER(nbody_event_record), [c_void_p, c_void_p]"),
    "nbody_explain": ("nbody", "c_char_p, [c_void_p, c_uint]"),
    "nbody_explain_method": ("nbody", "c_char_p, [c_void_p]"),
    "nbody_find_chaos": ("nbody", "c_int, [c_void_p, POINTER(nbody_chaos)]"),
    "nbody_find_contacts": ("nbody", "c_int, [c_size_t, c_void_p, c_void_p, c_void_p, c_double, c_void_p, c_void_p]"),
    "nbody_find_elements": ("nbody", "nbody_elements, [c_double, c_void_p, c_void_p]"),
    "nbody_find_structure": ("nbody", "c_int, [c_size_t, c_double, c_void_p, c_void_p, c_void_p, c_void_p, c_size_t, POINTER(nbody_shell), POINTER(nbody_structure)]"),
    "nbody_find_structure_device": ("nbody", "c_int, [c_void_p, c_uint32, c_size_t, c_double, c_void_p, c_void_p, c_void_p, c_void_p, c_size_t, POINTER(nbody_shell), POINTER(nbody_structure)]"),
    "nbody_forces": ("nbody", "c_int, [c_void_p, c_void_p, c_void_p]"),
    "nbody_free": ("nbody", "None, [c_void_p]"),
    "nbody_initial": ("nbody", "c_int, [c_int, c_size_t, c_uint64, c_void_p, c_void_p, c_void_p]"),
    "nbody_initial_scale": ("nbody", "None, [c_size_t, c_double, c_double, c_void_p, c_void_p]"),
    "nbody_initial_slice": ("nbody", "c_int, [c_void_p, c_int, c_size_t, c_uint64, c_size_t, c_size_t, c_void_p, c_void_p, c_void_p]"),
    "nbody_integrator_describe": ("nbody", "POINTER(nbody_integrator_info), [c_int]"),
    "nbody_interactions": ("nbody", "c_double, [c_void_p]"),
    "nbody_load": ("nbody", "c_int, [c_void_p, c_void_p, c_size_t]"),
    "nbody_method": ("nbody", "c_int, [c_void_p]"),
    "nbody_model_bodies": ("nbody", "c_size_t, [c_int]"),
    "nbody_model_by_name": ("nbody", "c_int, [c_char_p]"),
    "nbody_orbit_state": ("nbody", "c_int, [c_double, POINTER(nbody_elements), c_void_p, c_void_p]"),
    "nbody_peak_rate": ("nbody", "c_double, [c_void_p]"),
    "nbody_place": ("nbody", "c_int, [c_void_p]"),
    "nbody_positions": ("nbody", "c_int, [c_void_p, c_size_t, c_void_p, c_void_p, c_void_p]"),
    "nbody_save": ("nbody", "c_int, [c_void_p, c_void_p]"),
    "nbody_save_bytes": ("nbody", "c_size_t, [c_void_p]"),
    "nbody_save_pieces": ("nbody", "c_int, [c_void_p, CFUNCTYPE(c_int, c_void_p, c_size_t, c_void_p, c_size_t), c_void_p]"),
    "nbody_set_clock": ("nbody", "None, [c_void_p, c_double, c_size_t]"),
    "nbody_set_dt": ("nbody", "c_int, [c_void_p, c_double]"),
    "nbody_set_elapsed": ("nbody", "c_int, [c_void_p, c_double]"),
    "nbody_set_force_callback": ("nbody", "c_int, [c_void_p, CFUNCTYPE(c_int, c_void_p, c_double, c_size_t, c_void_p, c_void_p, c_void_p, c_void_p), c_void_p, c_int]"),
    "nbody_shape": ("nbody", "c_char_p, [c_void_p, c_uint]"),
    "nbody_snapshot_begin": ("nbody", "c_int, [c_void_p]"),
    "nbody_snapshot_read": ("nbody", "c_int, [c_void_p, c_void_p]"),
    "nbody_state": ("nbody", "c_int, [c_void_p, c_void_p, c_void_p]"),
    "nbody_step": ("nbody", "c_int, [c_void_p, c_size_t]"),
    "nbody_steps": ("nbody", "c_size_t, [c_void_p]"),
    "nbody_time": ("nbody", "c_double, [c_void_p]"),
    "nbody_time_forces": ("nbody", "c_int, [c_void_p, c_size_t, c_void_p]"),
    "nbody_tune_kernels": ("nbody", "POINTER(cltune_kernel), [c_void_p]"),
    "nbody_watch_contacts": ("nbody", "c_int, [c_void_p, c_void_p]"),
    "nbody_watch_events": ("nbody", "c_int, [c_void_p, c_size_t, POINTER(nbody_event_rule)]"),
    "oclerror_str": ("stdcl", "c_char_p, [c_int]"),
    "oclperror": ("stdcl", "None, [c_char_p]"),
    "stdcl_arg_global": ("stdcl", "c_size_t, [c_void_p, c_uint32, c_void_p, c_char_p]"),
    "stdcl_arg_local": ("stdcl", "c_int, [c_void_p, c_uint32, c_size_t]"),
    "stdcl_arg_pointer": ("stdcl", "c_int, [c_void_p, c_uint32, c_void_p, c_char_p]"),
    "stdcl_arg_value": ("stdcl", "c_int, [c_void_p, c_uint32, c_size_t, c_void_p, c_char_p]"),
    "stdcl_embed_register": ("stdcl", "None, [POINTER(stdcl_embedded)]"),
    "stdcl_embed_register_binary": ("stdcl", "None, [POINTER(stdcl_embedded_binary)]"),
    "stdcl_enqueue_kernel": ("stdcl", "c_int32, [c_void_p, c_void_p, c_uint32, c_void_p, c_void_p, c_void_p, c_uint32, c_void_p, c_void_p]"),
    "stdcl_errno_address": ("stdcl", "c_void_p, []"),
    "stdcl_forka": ("stdcl", "c_size_t, [c_void_p, c_uint32, c_void_p, POINTER(clndrange_struct), c_int, c_uint32, POINTER(stdcl_arg)]"),
    "stdcl_init": ("stdcl", "None, []"),
    "stdcl_oclerrno_address": ("stdcl", "c_void_p, []"),
    "stdcl_set_kernel_arg": ("stdcl", "c_int32, [c_void_p, c_uint32, c_size_t, c_void_p]"),
    "stdcl_standard_context": ("stdcl", "c_void_p, [c_int]"),
    "stdcl_stdacc_address": ("stdcl", "c_void_p, []"),
    "stdcl_stdcpu_address": ("stdcl", "c_void_p, []"),
    "stdcl_stddev_address": ("stdcl", "c_void_p, []"),
    "stdcl_stdgpu_address": ("stdcl", "c_void_p, []"),
    "stdcl_stdnpu_address": ("stdcl", "c_void_p, []"),
    "stdcl_stdrpu_address": ("stdcl", "c_void_p, []"),
    "stdcl_version": ("stdcl", "c_char_p, []"),
    "view_add_row": ("view", "c_int, [c_void_p, c_void_p]"),
    "view_behind": ("view", "c_int, [c_void_p]"),
    "view_bodies_wanted": ("view", "c_size_t, [c_void_p]"),
    "view_cells_bytes": ("view", "c_size_t, [POINTER(view_region), c_uint]"),
    "view_cells_shade": ("view", "c_uint8, [c_uint64, c_uint32]"),
    "view_close": ("view", "c_int, [c_void_p]"),
    "view_due": ("view", "c_int, [c_void_p]"),
    "view_due_in": ("view", "c_double, [c_void_p]"),
    "view_end": ("view", "None, [c_void_p, c_char_p]"),
    "view_next_command": ("view", "c_int, [c_void_p, POINTER(view_command)]"),
    "view_open": ("view", "c_void_p, [POINTER(view_options)]"),
    "view_recording_close": ("view", "None, [c_void_p]"),
    "view_recording_frames": ("view", "c_size_t, [c_void_p]"),
    "view_recording_open": ("view", "c_void_p, [c_char_p]"),
    "view_recording_overlay": ("view", "c_int, [c_void_p, c_void_p, c_void_p]"),
    "view_recording_time": ("view", "c_double, [c_void_p, c_size_t]"),
    "view_recording_title": ("view", "c_char_p, [c_void_p]"),
    "view_regions_wanted": ("view", "c_int, [c_void_p, POINTER(view_region)]"),
    "view_reopens": ("view", "None, [c_void_p]"),
    "view_sample_order": ("view", "c_void_p, [c_void_p]"),
    "view_say": ("view", "None, [c_void_p, c_char_p]"),
    "view_set_box": ("view", "None, [c_void_p, c_void_p]"),
    "view_set_objects": ("view", "None, [c_void_p, c_uint64, c_char_p]"),
    "view_set_rule": ("view", "None, [c_void_p, c_char_p]"),
    "view_set_state": ("view", "None, [c_void_p, POINTER(view_state)]"),
    "view_show_bars": ("view", "c_int, [c_void_p, view_moment, c_uint32, c_double, c_void_p, c_void_p]"),
    "view_show_cells": ("view", "c_int, [c_void_p, view_moment, c_uint64, c_int, POINTER(view_cells)]"),
    "view_show_grid": ("view", "c_int, [c_void_p, view_moment, c_void_p]"),
    "view_show_points": ("view", "c_int, [c_void_p, POINTER(view_points)]"),
    "view_show_profiles": ("view", "c_int, [c_void_p, c_double, c_size_t, POINTER(view_profile)]"),
    "view_show_recorded": ("view", "c_int, [c_void_p, c_void_p, c_size_t]"),
    "view_tokens": ("view", "c_char_p, [c_void_p]"),
    "view_tunnel": ("view", "c_char_p, [c_void_p]"),
    "view_url": ("view", "c_char_p, [c_void_p, c_int]"),
    "view_viewers": ("view", "c_int, [c_void_p]"),
    "view_wait": ("view", "None, [c_void_p, c_double]"),
    "view_write_page": ("view", "c_int, [c_void_p, c_char_p]"),
    "world_abort": ("world", "None, [c_void_p, c_int, c_char_p]"),
    "world_add": ("world", "c_int, [c_void_p, c_void_p, c_size_t]"),
    "world_barrier": ("world", "c_int, [c_void_p]"),
    "world_broadcast": ("world", "c_int, [c_void_p, c_int, c_void_p, c_size_t]"),
    "world_check_equal": ("world", "c_int, [c_void_p, c_char_p, c_char_p]"),
    "world_devices": ("world", "c_int, [c_void_p, c_void_p, c_size_t, c_int, c_void_p]"),
    "world_from_plugin": ("world", "c_void_p, [c_char_p, c_int, POINTER(world_options)]"),
    "world_gather": ("world", "c_int, [c_void_p, c_void_p, c_size_t, c_void_p]"),
    "world_host": ("world", "c_char_p, [c_void_p, c_int]"),
    "world_hosts": ("world", "c_int, [c_void_p]"),
    "world_join": ("world", "c_void_p, [POINTER(world_options)]"),
    "world_launched": ("world", "c_int, [c_void_p]"),
    "world_leave": ("world", "c_int, [c_void_p]"),
    "world_notified": ("world", "c_int, [c_void_p]"),
    "world_notify": ("world", "None, [c_void_p, c_int]"),
    "world_rank": ("world", "c_int, [c_void_p]"),
    "world_receive": ("world", "c_void_p, [c_void_p, c_int, c_int, c_void_p, c_size_t]"),
    "world_reduce": ("world", "c_int, [c_void_p, c_void_p, c_size_t, CFUNCTYPE(None, c_void_p, c_void_p, c_void_p), c_void_p]"),
    "world_reduce_status": ("world", "c_int, [c_void_p, c_int]"),
    "world_send": ("world", "c_void_p, [c_void_p, c_int, c_int, c_void_p, c_size_t]"),
    "world_size": ("world", "c_int, [c_void_p]"),
    "world_test": ("world", "c_int, [c_void_p, c_void_p]"),
    "world_transport": ("world", "c_char_p, [c_void_p]"),
    "world_wait": ("world", "c_int, [c_void_p, c_void_p, c_size_t]"),
    "world_wait_time": ("world", "c_double, [c_void_p, c_int]"),
}

# what words mean as options
CHOICES = {
    "arrays_options": {'type': {'float': 0, 'double': 1, 'int': 2, 'long': 3}, 'accumulator': {'wide': 0, 'compensated': 1}, 'method': {'tuned': 0, 'tree': 1}},
    "arrays_sorter_options": {},
    "gas_options": {'storage': {'fused': 0, 'stored': 1}, 'source': {'device': 0, 'host': 1, 'given': 2}, 'type': {'float': 0, 'double': 1, 'int': 2, 'long': 3}, 'accumulator': {'wide': 0, 'compensated': 1}, 'method': {'tuned': 0, 'tree': 1}},
    "life_census_options": {},
    "life_options": {'engine': {'auto': 0, 'packed': 1, 'local': 2, 'global': 3, 'reference': 4, 'hashlife': 5, 'sparse': 6}, 'bounds': {'torus': 0, 'plane': 1, 'joined': 2, 'unbounded': 3}},
    "life_sweep_options": {},
    "matmul_options": {'kind': {'tuned': 0, 'naive': 1, 'blocked': 2, 'cpu_naive': 3, 'cpu_blocked': 4, 'openblas': 5, 'sycl': 6, 'clblast': 7}, 'precision': {'single': 0, 'double': 1}},
    "nbody_ensemble_options": {'integrator': {'leapfrog': 0, 'hermite4': 1, 'taylor': 2, 'yoshida4': 3, 'ias15': 4, 'hermite6': 5, 'whfast': 6, 'trace': 7}},
    "nbody_ensemble_watch_options": {},
    "nbody_options": {'integrator': {'leapfrog': 0, 'hermite4': 1, 'taylor': 2, 'yoshida4': 3, 'ias15': 4, 'hermite6': 5, 'whfast': 6, 'trace': 7}, 'precision': {'single': 0, 'double': 1, 'mixed': 2}, 'kernel': {'tuned': 0, 'naive': 1, 'branchless': 2, 'tiled': 3}, 'method': {'direct': 0, 'tree': 1, 'auto': 2}, 'stepping': {'fixed': 0, 'adaptive': 1, 'block': 2}, 'place': {'on_devices': 0, 'on_host': 1, 'on_faster': 2}},
    "nbody_trace_options": {},
    "nbody_whfast_options": {'coordinates': {'jacobi': 0, 'heliocentric': 1}},
    "view_options": {},
    "world_options": {},
}

CONSTANTS = {
    "STDCL_VALUE": 0,
    "STDCL_GLOBAL": 1,
    "STDCL_LOCAL": 2,
    "STDCL_V_END": 0,
    "STDCL_V_INTEGER": 1,
    "STDCL_V_NATURAL": 2,
    "STDCL_V_NUMBER": 3,
    "STDCL_V_BOOL": 4,
    "STDCL_V_STRING": 5,
    "STDCL_V_TABLE": 6,
    "ARRAYS_FLOAT": 0,
    "ARRAYS_DOUBLE": 1,
    "ARRAYS_INT": 2,
    "ARRAYS_LONG": 3,
    "ARRAYS_WIDE": 0,
    "ARRAYS_COMPENSATED": 1,
    "ARRAYS_TUNED": 0,
    "ARRAYS_TREE": 1,
    "ARRAYS_UNSIGNED": 0,
    "ARRAYS_SIGNED": 1,
    "ARRAYS_FLOATING": 2,
    "LIFE_TORUS": 0,
    "LIFE_PLANE": 1,
    "LIFE_JOINED": 2,
    "LIFE_UNBOUNDED": 3,
    "LIFE_RULE_TEXT": 2048,
    "LIFE_GRID_TEXT": 96,
    "LIFE_AUTO": 0,
    "LIFE_PACKED": 1,
    "LIFE_LOCAL": 2,
    "LIFE_GLOBAL": 3,
    "LIFE_REFERENCE": 4,
    "LIFE_HASHLIFE": 5,
    "LIFE_SPARSE": 6,
    "LIFE_ENGINES": 7,
    "LIFE_POPULATION_TEXT": 80,
    "LIFE_ROTATE_0": 0,
    "LIFE_ROTATE_90": 1,
    "LIFE_ROTATE_180": 2,
    "LIFE_ROTATE_270": 3,
    "LIFE_FLIP_X": 4,
    "LIFE_FLIP_Y": 5,
    "LIFE_TRANSPOSE": 6,
    "LIFE_ANTITRANSPOSE": 7,
    "LIFE_TURNS": 8,
    "LIFE_AND": 0,
    "LIFE_OR": 1,
    "LIFE_XOR": 2,
    "LIFE_DIFFERENCE": 3,
    "GAS_FUSED": 0,
    "GAS_STORED": 1,
    "GAS_DEVICE": 0,
    "GAS_HOST": 1,
    "GAS_GIVEN": 2,
    "LIFE_UNSETTLED": 0,
    "LIFE_EXTINCT": 1,
    "LIFE_STILL": 2,
    "LIFE_OSCILLATOR": 3,
    "LIFE_SPACESHIP": 4,
    "LIFE_OBJECTS": 5,
    "LIFE_GUN": 6,
    "LIFE_RAKE": 7,
    "LIFE_PUFFER": 8,
    "LIFE_QUADRATIC": 9,
    "LIFE_SYMMETRY_TEXT": 8,
    "MATMUL_TUNED": 0,
    "MATMUL_NAIVE": 1,
    "MATMUL_BLOCKED": 2,
    "MATMUL_CPU_NAIVE": 3,
    "MATMUL_CPU_BLOCKED": 4,
    "MATMUL_OPENBLAS": 5,
    "MATMUL_SYCL": 6,
    "MATMUL_CLBLAST": 7,
    "MATMUL_KINDS": 8,
    "MATMUL_SINGLE": 0,
    "MATMUL_DOUBLE": 1,
    "MATMUL_NN": 0,
    "MATMUL_NT": 1,
    "MATMUL_TN": 2,
    "MATMUL_TT": 3,
    "NBODY_LEAPFROG": 0,
    "NBODY_HERMITE4": 1,
    "NBODY_TAYLOR": 2,
    "NBODY_YOSHIDA4": 3,
    "NBODY_IAS15": 4,
    "NBODY_HERMITE6": 5,
    "NBODY_WHFAST": 6,
    "NBODY_TRACE": 7,
    "NBODY_JACOBI": 0,
    "NBODY_HELIOCENTRIC": 1,
    "NBODY_FIXED": 0,
    "NBODY_ADAPTIVE": 1,
    "NBODY_BLOCK": 2,
    "NBODY_SINGLE": 0,
    "NBODY_DOUBLE": 1,
    "NBODY_MIXED": 2,
    "NBODY_TUNED": 0,
    "NBODY_NAIVE": 1,
    "NBODY_BRANCHLESS": 2,
    "NBODY_TILED": 3,
    "NBODY_DIRECT": 0,
    "NBODY_TREE": 1,
    "NBODY_AUTO": 2,
    "NBODY_ON_DEVICES": 0,
    "NBODY_ON_HOST": 1,
    "NBODY_ON_FASTER": 2,
    "NBODY_FEW": 128,
    "NBODY_FIELD_POINT": 0,
    "NBODY_FIELD_PLUMMER": 1,
    "NBODY_FIELD_LOGARITHMIC": 2,
    "NBODY_FORCE_OF_POSITION": 0,
    "NBODY_FORCE_OF_VELOCITY": 1,
    "NBODY_ENCOUNTER": 0,
    "NBODY_PERICENTRE": 1,
    "NBODY_APOCENTRE": 2,
    "NBODY_TRANSIT": 3,
    "NBODY_ESCAPE": 4,
    "NBODY_SYSTEM_RUNS": 0,
    "NBODY_SYSTEM_ESCAPE": 1,
    "NBODY_SYSTEM_CONTACT": 2,
    "NBODY_SYSTEM_FAILED": 3,
    "NBODY_PLUMMER": 0,
    "NBODY_UNIFORM": 1,
    "NBODY_COLD": 2,
    "NBODY_COLLISION": 3,
    "NBODY_FIGURE8": 4,
    "NBODY_PYTHAGOREAN": 5,
    "NBODY_HERNQUIST": 6,
    "NBODY_GALAXY": 7,
    "LIFE_SWEEP_SIDE": 64,
    "LIFE_SWEEP_PERIOD": 120,
    "VIEW_NAMED": 64,
    "VIEW_CAN_PAUSE": 1,
    "VIEW_CAN_STEP": 2,
    "VIEW_CAN_SPEED": 4,
    "VIEW_CAN_QUIT": 8,
    "VIEW_CAN_SEEK": 16,
    "VIEW_CAN_AGAIN": 32,
    "VIEW_CAN_PUT": 64,
    "VIEW_CAN_BACK": 128,
    "VIEW_CAN_RULE": 256,
    "VIEW_INSTANTS": 32,
    "VIEW_REGIONS": 9,
    "VIEW_PROFILES": 4,
    "VIEW_PROFILE_BINS": 64,
    "VIEW_PAUSE": 0,
    "VIEW_RUN": 1,
    "VIEW_STEP": 2,
    "VIEW_SPEED": 3,
    "VIEW_SEEK": 4,
    "VIEW_QUIT": 5,
    "VIEW_AGAIN": 6,
    "VIEW_PUT": 7,
    "VIEW_RULE": 8,
    "VIEW_PUT_BYTES": 1536,
    "VIEW_RULE_BYTES": 512,
    "VIEW_OBJECTS_BYTES": 256,
    "STDCL_VERSION_MAJOR": 1,
    "STDCL_VERSION_MINOR": 0,
    "STDCL_VERSION_PATCH": 0,
    "CL_MEM_RO": 0x000001,
    "CL_MEM_WO": 0x000002,
    "CL_MEM_RW": 0x000003,
    "CL_MEM_HOST": 0x000100,
    "CL_MEM_DEVICE": 0x000200,
    "CL_MEM_NOCOPY": 0x000400,
    "CL_MEM_DETACHED": 0x001000,
    "CL_MEM_NOFORCE": 0x002000,
    "CL_MEM_ZEROCOPY": 0x004000,
    "CL_MEM_DEVONLY": 0x008000,
    "CL_MEM_IMAGE": 0x010000,
    "CL_MEM_IMAGE2D": 0x010000,
    "CL_MEM_PER_DEVICE": 0x020000,
    "CL_MEM_SAMPLER": 0x040000,
    "CL_MEM_SVM": 0x080000,
    "CL_MEM_CLBUF": 0x100000,
    "CL_MEM_GLBUF": 0x200000,
    "CL_MEM_GLTEX2D": 0x2000000,
    "CL_MEM_GLTEX3D": 0x4000000,
    "CL_MEM_GLRBUF": 0x8000000,
    "CL_MCTL_GET_STATUS": 1,
    "CL_MCTL_GET_DEVNUM": 2,
    "CL_MCTL_SET_DEVNUM": 3,
    "CL_MCTL_MARK_CLEAN": 4,
    "CL_MCTL_SET_IMAGE2D": 5,
    "CL_MCTL_SET_USRFLAGS": 6,
    "CL_MCTL_CLR_USRFLAGS": 7,
    "CL_MCTL_SET_IMAGE": 8,
    "CL_MCTL_SET_SAMPLER": 9,
    "CL_MCTL_GET_SVM": 10,
    "CLLD_DEFAULT": 0,
    "CLLD_LAZY": 1,
    "CLLD_NOW": 2,
    "CLLD_NOBUILD": 4,
    "CLLD_CACHE": 16,
    "CLLD_GLOBAL": 8,
    "CL_FAST": 0,
    "CL_EVENT_WAIT": 0x1,
    "CL_EVENT_NOWAIT": 0x2,
    "CL_EVENT_RELEASE": 0x4,
    "CL_EVENT_NORELEASE": 0x8,
    "CL_KERNEL_EVENT": 0x10,
    "CL_MEM_EVENT": 0x20,
    "CL_ALL_EVENT": 0x30,
    "CL_EVENT_UNCOUNTED": 0x40,
    "CL_EVENT_OWN": 0x800,
    "CL_EVENT_SIDE_QUEUE": 0x40000,
    "CL_EVENT_BARRIER": 0x80000,
    "CL_EVENT_CHECKED": 0x80,
    "CLPROF_EVERY": 2,
    "CLPROF_SINGLE": 0,
    "CLPROF_DOUBLE": 1,
    "CLPROF_TENSOR": 2,
    "CLPROF_TABLE": 0,
    "CLPROF_CSV": 1,
    "CLPROF_JSON": 2,
}
