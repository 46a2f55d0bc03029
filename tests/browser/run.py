#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""run.py [NAME...] - the tests of the pages in a browser; closes with 'N passed, M failed'. A name selects tests.

Without Chromium, ChromeDriver or Selenium it says so and exits with 77 (skipped); with TACET_CI set that is a failure.
TACET_PICTURES=DIR keeps pictures of every page there."""
import importlib
import os
import shutil
import subprocess
import sys
import time
import traceback

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)


def missing():
    for program in ("chromium", "chromedriver"):
        if shutil.which(program) is None:
            return f"{program} is not there (tools/setup --with-ci installs it)"
    try:
        import selenium  # noqa: F401
    except ImportError:
        return "python3-selenium is not there (tools/setup --with-ci installs it)"
    return None


def main():
    why = missing()
    if why:
        print(f"browser: {'failed' if os.environ.get('TACET_CI') else 'skipped'}: {why}")
        return 1 if os.environ.get("TACET_CI") else 77
    package = os.path.join(os.environ.get("TACET_BUILD") or os.path.dirname(os.environ.get("TACET_BIN", "build/bin")), "device")
    if not os.path.exists(os.path.join(package, "device.wasm")):
        subprocess.run([os.path.join(HERE, "..", "..", "tools", "device-wasm"), package], check=False)
    modules = ["test_desk", "test_board"]
    if os.path.exists(os.path.join(package, "device.wasm")):
        modules += ["test_device", "test_shop"]
    else:
        print("test_device: skipped: the device package is not built (make device-wasm)")
        if os.environ.get("TACET_CI"):
            return 1
    import harness
    wanted = sys.argv[1:]
    passed, failed = 0, 0
    driver = harness.browser()
    try:
        for module in modules:
            tests = vars(importlib.import_module(module))
            for name, test in list(tests.items()):
                if not name.startswith("test_") or (wanted and not any(w in name for w in wanted)):
                    continue
                start = time.monotonic()
                try:
                    harness.scheme(driver, False)
                    harness.screen(driver, 1280, 900)
                    driver.get("about:blank")
                    driver.delete_all_cookies()
                    driver.get_log("browser")
                    test(driver)
                    passed += 1
                    print(f"ok      {name} ({time.monotonic() - start:.1f} s)", flush=True)
                except Exception:
                    failed += 1
                    words = traceback.format_exc().split("Stacktrace:")[0]
                    print(f"FAILED  {name}\n{words}", flush=True)
    finally:
        harness.close(driver)
    print(f"{passed} passed, {failed} failed")
    return 0 if failed == 0 and passed > 0 else 1


sys.exit(main())
