# Sourced by the scripts of this folder: makes and reuses virtual environments.

cd "$(dirname "$0")/.." || exit 1
export PIP_DISABLE_PIP_VERSION_CHECK=1

say() { printf '\n== %s\n' "$*"; }

# find_python [NEWEST]: the command of a Python from 3.11 to 3.NEWEST.
# Each is started, because a command can be there and not run (the shims of version managers).
find_python() {
    candidates=${GRADTAPE_PYTHON:-python3 python3.14 python3.13 python3.12 python3.11 python}
    for candidate in $candidates; do
        if "$candidate" -c "import sys; v = sys.version_info
sys.exit(not (3, 11) <= v[:2] <= (3, ${1:-99}))" >/dev/null 2>&1; then
            echo "$candidate"
            return
        fi
    done
    upto=${1:+to 3.$1}
    echo "No Python 3.11 ${upto:-or later} among: $candidates" >&2
    echo "Install one, or name it: GRADTAPE_PYTHON=/path/to/python $0" >&2
    return 1
}

# environment FOLDER [EXTRA [NEWEST]]: a virtual environment with gradtape (editable) and EXTRA.
# Nothing is installed again while pyproject.toml is the one it was installed from.
environment() {
    folder=$1 extra=${2:-}
    stamp=$folder/installed-${extra:-plain}.toml
    if ! "$folder/bin/python" -m pip --version >/dev/null 2>&1; then
        python=$(find_python "${3:-}") || return 1
        say "Making $folder with $("$python" --version)"
        "$python" -m venv --clear "$folder" || {
            echo "$python cannot make a virtual environment (on Debian: apt install python3-venv)." >&2
            return 1
        }
    fi
    if ! cmp -s pyproject.toml "$stamp"; then
        say "Installing gradtape${extra:+[$extra]} in $folder"
        "$folder/bin/python" -m pip install --quiet --editable ".${extra:+[$extra]}" || return 1
        cp pyproject.toml "$stamp"
    fi
}

oracle_environment() { environment .venvs/oracle oracle 13; } # TensorFlow 2.21 has no wheel for 3.14
