"""Executes notebooks in place of a person and compares what they print with what is committed."""

import sys
from pathlib import Path

import nbformat
from nbclient import NotebookClient


def printed(notebook):
    """The text that each code cell printed. Pictures are left out: their bytes depend on the machine's fonts."""
    cells = []
    for cell in notebook.cells:
        if cell.cell_type != "code":
            continue
        texts = []
        for output in cell.outputs:
            data = output.get("data", {})
            if output.output_type == "stream":
                texts.append(output.text)
            elif "image/png" not in data:
                texts.append(data.get("text/plain", ""))
        cells.append("".join(texts))
    return cells


def clean(notebook):
    """Keeps what a reader sees and nothing that changes from run to run."""
    notebook.metadata = nbformat.from_dict(
        {"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}}
    )
    for cell in notebook.cells:
        cell.metadata = nbformat.from_dict({})
        if cell.cell_type != "code":
            continue
        for output in cell.outputs:
            if "metadata" in output:
                output.metadata = nbformat.from_dict({})
            output.get("data", {}).pop("text/html", None)


def execute(path, update):
    notebook = nbformat.read(path, as_version=4)
    before = printed(notebook)
    NotebookClient(notebook, timeout=600, kernel_name="python3", resources={"metadata": {"path": path.parent}}).execute()
    clean(notebook)
    if update:
        nbformat.write(notebook, path)
        print(f"{path}: outputs written")
        return True
    for number, (old, new) in enumerate(zip(before, printed(notebook), strict=True), start=1):
        if old != new:
            print(f"{path}: code cell {number} prints something else than is committed", file=sys.stderr)
            print(f"--- committed\n{old}\n--- now\n{new}\nnotebooks/run --update writes it", file=sys.stderr)
            return False
    print(f"{path}: {len(before)} code cells ran, outputs as committed")
    return True


def main(arguments):
    update = "--update" in arguments
    paths = [Path(argument) for argument in arguments if not argument.startswith("--")]
    if not paths:
        print("no notebook given", file=sys.stderr)
        return 2
    return 0 if all([execute(path, update) for path in paths]) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
