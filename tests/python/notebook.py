"""notebook.py NOTEBOOK... - runs notebooks with nbclient, and looks at what their cells show.

SPDX-License-Identifier: MIT
"""
import os
import sys
import tempfile

try:
    import ipykernel  # noqa: F401
    import nbclient
    import nbformat
except ImportError as missing:
    print("%s is not installed" % missing.name)
    sys.exit(77)

home = tempfile.TemporaryDirectory()
os.environ.update(JUPYTER_CONFIG_DIR=home.name, JUPYTER_DATA_DIR=home.name, IPYTHONDIR=home.name, JUPYTER_RUNTIME_DIR=home.name)
with open(os.path.join(home.name, "kernel.json"), "w") as spec:
    spec.write('{"argv": ["%s", "-m", "ipykernel_launcher", "-f", "{connection_file}"], "display_name": "Python 3"}' % sys.executable)
os.makedirs(os.path.join(home.name, "kernels", "python3"))
os.rename(os.path.join(home.name, "kernel.json"), os.path.join(home.name, "kernels", "python3", "kernel.json"))

shown, stills = set(), 0
for name in sys.argv[1:]:
    notebook = nbformat.read(name, 4)
    nbformat.validate(notebook)
    assert not any(cell.get("outputs") for cell in notebook.cells), "clear the outputs before you commit %s" % name
    nbclient.NotebookClient(notebook, timeout=1500, kernel_name="python3").execute()
    for output in (o for cell in notebook.cells for o in cell.get("outputs", ())):  # a view: a frame, with a picture for pages without it
        html = output.get("data", {}).get("text/html", "")
        if "Live view" in html:
            assert '<img src="data:image/png;base64,%s"' % output["data"]["image/png"].strip() in html.replace("\n", ""), html[:200]
            stills += 1
    shown |= {kind for cell in notebook.cells for output in cell.get("outputs", ()) for kind in output.get("data", ())}
assert {"text/html", "image/png", "text/plain"} <= shown, shown
assert stills == 1, stills
