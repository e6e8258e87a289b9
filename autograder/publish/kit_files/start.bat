@echo off
rem Open the course. The first time this sets up what it needs, in the folder .venv: a minute or two.
setlocal
cd /d "%~dp0" || exit /b 1

.venv\Scripts\python -m pip --version >nul 2>nul
if not errorlevel 1 goto install
py -3 -m venv --clear .venv 2>nul || python -m venv --clear .venv
.venv\Scripts\python -m pip --version >nul 2>nul
if errorlevel 1 (
    echo Please install Python 3.11 or newer from https://www.python.org/downloads/ and start again.
    pause
    exit /b 2
)

:install
.venv\Scripts\python -c "import sys; sys.exit(sys.version_info < (3, 11))"
if errorlevel 1 (
    echo Python 3.11 or newer is needed. Install it, delete the folder .venv, and start again.
    pause
    exit /b 2
)
fc /b requirements.txt .venv\installed.txt >nul 2>nul
if not errorlevel 1 goto open
.venv\Scripts\python install.py -r requirements.txt -c constraints.txt
if errorlevel 1 (
    pause
    exit /b 1
)
copy /y requirements.txt .venv\installed.txt >nul

:open
.venv\Scripts\python start.py %*
