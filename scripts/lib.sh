# Sourced by the scripts of this folder: makes and reuses virtual environments.

cd "$(dirname "$0")/.." || exit 1
export PIP_DISABLE_PIP_VERSION_CHECK=1

say() { printf '\n== %s\n' "$*"; }

# pythons: "VERSION COMMAND" for each Python from 3.11 on, the preferred first; pyenv's come last.
# Each is started, because a command can be there and not run (the shims of version managers).
pythons() {
    for candidate in ${GRADTAPE_PYTHON:-python3 python3.14 python3.13 python3.12 python3.11 python \
        "${PYENV_ROOT:-${HOME:-}/.pyenv}"/versions/*/bin/python}; do
        "$candidate" -c 'import sys
if sys.version_info >= (3, 11):
    print("%d.%d" % sys.version_info[:2], sys.executable)' 2>/dev/null || :
    done | awk '!seen[$1]++'
}

# find_python [VERSIONS]: the command of the first Python whose version matches, as 3.1[1-3] does.
find_python() {
    found=$(pythons | sed -n "s/^${1:-[0-9.]*} //p" | head -n 1)
    if [ -z "$found" ]; then
        echo "No Python ${1:-3.11 or later} found${GRADTAPE_PYTHON:+: $GRADTAPE_PYTHON is none}." >&2
        echo "Install one, or name it: GRADTAPE_PYTHON=/path/to/python $0" >&2
        return 1
    fi
    echo "$found"
}

# home [SUFFIX]: the folder of the environment: .venv, or .venvs/VERSIONSUFFIX with a SUFFIX, or
# with the Python of GRADTAPE_PYTHON.
home() {
    if [ -z "${GRADTAPE_PYTHON:-}${1:-}" ]; then
        echo .venv
    else
        find_python >/dev/null && pythons | sed "s,\([^ ]*\).*,.venvs/\1${1:-},;q"
    fi
}

# environment FOLDER [EXTRA [LOCK [VERSIONS]]]: a virtual environment with gradtape (editable) and
# EXTRA, in the versions of LOCK, or the newest ones without. With a lock, nothing is installed again
# while it and pyproject.toml are those that were installed from.
environment() {
    folder=$1 extra=${2:-} lock=${3:-}
    stamp=$folder/installed-${extra:-plain}
    if ! "$folder/bin/python" -m pip --version >/dev/null 2>&1; then
        python=$(find_python "${4:-}") || return 1
        say "Making $folder with $("$python" --version)"
        "$python" -m venv --clear "$folder" || {
            echo "$python cannot make a virtual environment (on Debian: apt install python3-venv)." >&2
            return 1
        }
    fi
    [ "$lock" ] && cat pyproject.toml "$lock" | cmp -s - "$stamp" && return
    say "Installing gradtape${extra:+[$extra]} in $folder"
    # As variables and not as options, they hold for what builds gradtape too.
    PIP_CONSTRAINT=$lock PIP_BUILD_CONSTRAINT=$lock "$folder/bin/python" -m pip install --quiet \
        --upgrade --upgrade-strategy eager --editable ".${extra:+[$extra]}" || return 1
    [ -z "$lock" ] || cat pyproject.toml "$lock" >"$stamp"
}

oracle_environment() { # TensorFlow 2.21 has no wheel for 3.14
    environment .venvs/oracle oracle constraints/oracle.txt '3\.1[1-3]'
}
