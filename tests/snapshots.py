"""snapshots.py - for test_formats_snapshots: HDF5 by h5py, as yt and pynbody read it and as other codes write it.

    have            fails when h5py is not installed
    read FOLDER     looks at ours.hdf5 and ours.npy of the test by the readers' rules
    write FOLDER    writes snapshots as GADGET-4 and SWIFT do, and broken ones
    outside FOLDER  writes snapshots that refer to other files, or claim more than they hold; and packed.hdf5, which is good
    yt FOLDER       opens ours.hdf5 with yt, without options; 77 when yt is not installed
    pynbody FOLDER  the same with pynbody

The rules: yt (frontends/gadget) asks for the group Header with NumPart_ThisFile, NumPart_Total, MassTable, Time, BoxSize,
NumFilesPerSnapshot and Redshift, takes units from Units, and refuses groups of other programs; pynbody
(snapshot/gadgethdf.py) counts bodies by ParticleIDs, takes units from Units or Parameters, and a file with HubbleParam in
Parameters for cosmological.
SPDX-License-Identifier: MIT
"""

import sys

try:
    import h5py
    import numpy as np
except ImportError:
    print("python3-h5py is not installed")
    sys.exit(1)

UNITS = ("UnitLength_in_cm", "UnitMass_in_g", "UnitVelocity_in_cm_per_s")


def read(folder):
    with h5py.File(folder + "/ours.hdf5", "r") as f:
        head, run = f["Header"].attrs, f["Parameters"].attrs
        for name in ("NumPart_ThisFile", "NumPart_Total", "NumPart_Total_HighWord"):
            assert len(head[name]) == 6 and head[name].dtype.kind == "u", name
        assert list(head["NumPart_ThisFile"]) == [10, 25, 0, 0, 15, 0]
        assert list(head["NumPart_Total"]) == [10, 25, 0, 0, 15, 0]
        assert not any(head["NumPart_Total_HighWord"]) and not any(head["MassTable"])
        assert head["Time"] == 0.1 and head["BoxSize"] == 0 and head["Redshift"] == 0
        assert head["NumFilesPerSnapshot"] == 1
        assert abs(head["Time_GYR"] - 0.1 * 1e20 / 1e5 / 3.15576e16) < 1e-12
        for place in ("Units", "Parameters", "Header"):
            assert [f[place].attrs[u] for u in UNITS] == [1e20, 1e40, 1e5], place
        for name in ("HubbleParam", "Omega0", "OmegaLambda", "ComovingIntegrationOn"):
            assert name not in head and name not in run, name
        for veto in ("FOF", "Group", "Subhalo", "Config", "Constants", "RuntimePars"):
            assert veto not in f, veto
        assert run["G"] == 43007.1 and run["step"] == -0.0078125 and run["softening"] == 0.1 + 0.2
        assert run["integrator"] in (b"hermite4", "hermite4")
        masses = []
        for kind in ("PartType0", "PartType1", "PartType4"):
            group = f[kind]
            n = len(group["ParticleIDs"])
            assert group["Coordinates"].shape == (n, 3) and group["Velocities"].shape == (n, 3)
            assert group["Masses"].shape == group["Potential"].shape == group["Softenings"].shape == (n,)
            assert group["ParticleIDs"].dtype == np.uint64 and group["Coordinates"].dtype == np.float64
            masses += list(group["Masses"])
        assert masses == list(range(1, 51))
        assert list(f["PartType4/ParticleIDs"]) == list(range(965, 950, -1))
        assert f["PartType1/Coordinates"][0, 1] == 10.1
    matrix = np.load(folder + "/ours.npy")
    assert matrix.shape == (50, 7) and list(matrix[:, 0]) == masses and matrix[3, 6] == 1 / 3 - 6


def snapshot(path, header=None, kind="PartType1", drop=(), change=None):
    sets = {
        "Coordinates": np.arange(9, dtype=np.float32).reshape(3, 3),
        "Velocities": -np.arange(9, dtype=np.float32).reshape(3, 3),
        "Masses": np.full(3, 2, np.float32),
        "ParticleIDs": np.arange(3, dtype=np.uint32),
    }
    sets.update(change or {})
    with h5py.File(path, "w") as f:
        head = f.create_group("Header")
        for name, value in (header or {}).items():
            head.attrs[name] = value
        for name, value in sets.items():
            if name not in drop:
                f.create_dataset(kind + "/" + name, data=value)


def write(folder):
    counts = {"NumPart_ThisFile": np.array([0, 3, 0, 0, 0, 0], np.uint32), "MassTable": np.zeros(6), "Time": 1.5}
    snapshot(folder + "/gadget4.hdf5", counts)
    with h5py.File(folder + "/gadget4.hdf5", "a") as f:
        for name, value in zip(UNITS, (3.085678e21, 1.989e43, 1e5)):
            f.require_group("Parameters").attrs[name] = value
    swift = dict(counts, MassTable=np.array([0, 2.0, 0, 0, 0, 0, 0]), Time=np.array([1.5]),
                 NumFilesPerSnapshot=np.array([1]), NumPart_ThisFile=np.array([0, 3, 0, 0, 0, 0, 0], np.uint64))
    snapshot(folder + "/swift.hdf5", swift, drop=("Masses",))
    with h5py.File(folder + "/swift.hdf5", "a") as f:
        units = f.create_group("Units").attrs
        units["Unit length in cgs (U_L)"] = np.array([3.085678e21])
        units["Unit mass in cgs (U_M)"] = np.array([1.989e43])
        units["Unit time in cgs (U_t)"] = np.array([3.085678e16])
    snapshot(folder + "/bare.hdf5")
    snapshot(folder + "/parts.hdf5", dict(counts, NumFilesPerSnapshot=4))
    snapshot(folder + "/light.hdf5", counts, drop=("Masses",))
    snapshot(folder + "/still.hdf5", counts, drop=("Velocities",))
    snapshot(folder + "/short.hdf5", counts, change={"Velocities": np.zeros((2, 3))})
    snapshot(folder + "/flat.hdf5", counts, change={"Coordinates": np.zeros(9)})
    snapshot(folder + "/words.hdf5", counts, change={"Coordinates": np.array([[b"a", b"b", b"c"]] * 3)})
    snapshot(folder + "/nothing.hdf5", counts, kind="PartType7")
    snapshot(folder + "/nan.hdf5", counts, change={"Coordinates": np.where(np.arange(9) == 4, np.nan, 0).reshape(3, 3)})
    with h5py.File(folder + "/other.hdf5", "w") as f:
        f["x"] = 1


def outside(folder):
    counts = {"NumPart_ThisFile": np.array([0, 3, 0, 0, 0, 0], np.uint32), "MassTable": np.array([0, 2.0, 0, 0, 0, 0]), "Time": 1.5}

    def change(name, make):
        snapshot(folder + "/" + name, counts, drop=("Coordinates",))
        with h5py.File(folder + "/" + name, "a") as f:
            make(f["PartType1"])

    def plist(make):
        p = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
        make(p)
        return p

    secret = folder + "/secret.txt"
    with open(secret, "wb") as f:
        f.write(b"secret" * 100)
    with h5py.File(folder + "/source.hdf5", "w") as f:
        f["c"] = np.arange(9.0).reshape(3, 3)
    stored = plist(lambda p: p.set_external(secret.encode(), 0, 9))
    change("storage.hdf5", lambda g: h5py.h5d.create(g.id, b"Coordinates", h5py.h5t.NATIVE_UINT8, h5py.h5s.create_simple((3, 3)), stored))
    layout = h5py.VirtualLayout((3, 3), "f8")
    layout[:] = h5py.VirtualSource(folder + "/source.hdf5", "c", (3, 3))
    change("virtual.hdf5", lambda g: g.create_virtual_dataset("Coordinates", layout))
    change("link.hdf5", lambda g: g.__setitem__("Coordinates", h5py.ExternalLink(folder + "/source.hdf5", "/c")))
    change("pipe.hdf5", lambda g: g.__setitem__("Coordinates", h5py.ExternalLink(folder + "/pipe", "/c")))
    change("filter.hdf5", lambda g: g.create_dataset("Coordinates", data=np.zeros((3, 3)), chunks=(3, 3), compression="lzf"))
    change("claim.hdf5", lambda g: g.create_dataset("Coordinates", (2 * 10**8, 3), "f8", chunks=(1 << 16, 3)))
    change("packed.hdf5", lambda g: g.create_dataset("Coordinates", data=np.arange(9.0).reshape(3, 3), chunks=(2, 3), compression="gzip",
                                                     shuffle=True, fletcher32=True))
    snapshot(folder + "/group.hdf5", counts, kind="PartType3")
    with h5py.File(folder + "/group.hdf5", "a") as f:
        f["PartType1"] = h5py.ExternalLink(folder + "/source.hdf5", "/")


def open_with_yt(folder):
    try:
        import yt
    except ImportError:
        print("python3-yt is not installed")
        sys.exit(77)
    yt.set_log_level(40)
    ds = yt.load(folder + "/ours.hdf5")
    assert type(ds).__name__ == "GadgetHDF5Dataset"
    assert abs(float(ds.current_time.to("code_time")) - 0.1) < 1e-12
    data = ds.all_data()
    for kind, n in (("PartType0", 10), ("PartType1", 25), ("PartType4", 15)):
        assert len(data[kind, "Masses"]) == n and data[kind, "Coordinates"].shape == (n, 3)
    told = yt.load(folder + "/ours.hdf5", unit_base={u: ds.parameters[u] for u in UNITS})
    assert abs(float(told.length_unit.to("cm")) / 1e20 - 1) < 1e-6 and abs(float(told.mass_unit.to("g")) / 1e40 - 1) < 1e-6
    assert abs(float(data["PartType1", "Coordinates"][0, 1].to("code_length")) - 10.1) < 1e-12


def open_with_pynbody(folder):
    try:
        import pynbody
    except ImportError:
        print("pynbody is not installed")
        sys.exit(77)
    bodies = pynbody.load(folder + "/ours.hdf5")
    assert (len(bodies.gas), len(bodies.dm), len(bodies.star)) == (10, 25, 15)
    assert bodies["pos"].shape == (50, 3) and bodies["vel"].shape == (50, 3) and len(bodies["mass"]) == 50
    assert abs(float(bodies.dm["pos"][0, 1]) - 10.1) < 1e-12


if sys.argv[1] != "have":
    {"read": read, "write": write, "outside": outside, "yt": open_with_yt, "pynbody": open_with_pynbody}[sys.argv[1]](sys.argv[2])
