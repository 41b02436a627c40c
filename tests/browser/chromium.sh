#!/bin/sh
# See to it that there is a Chromium for the tests of pages: use the one that is here, or install
# Debian's where that is possible (as root, with apt). Without one those tests are skipped; with
# CI set they fail.
for name in chromium chromium-browser google-chrome; do
    command -v "$name" >/dev/null && exit 0
done
if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
    echo "Installing Debian's chromium, for the tests of pages."
    for attempt in 1 2; do
        apt-get -qq -o DPkg::Lock::Timeout=300 update &&
            DEBIAN_FRONTEND=noninteractive apt-get -qq -y -o DPkg::Lock::Timeout=300 \
                install --no-install-recommends chromium >/dev/null && exit 0
    done
fi
echo "There is no Chromium here, and none could be installed: the tests of pages need one."
