#!/usr/bin/env bash
# Makes the base images of docker/ on a machine without an image registry, for the container tests of `bun run test:deep`.
# Usage: test/deep/containers/base-images.sh. It needs root on Debian 12 with Node and npm, and takes about three minutes.
# An image that exists is kept, so a second run only checks. The images are stand-ins made of Debian's packages: they have
# the interface of the official images (paths, users, variables, commands), and Debian's versions of the programs.
set -euo pipefail
here="$(cd "$(dirname "$0")" && pwd)"
docker="$here/../../../docker"
slim=docker.io/library/node:20-bookworm-slim
full=docker.io/library/node:20-bookworm
work="$(mktemp -d)"
trap 'rm -rf "$work"' EXIT

# This process's hard limit, at most 30,000: podman's own processes have lower ones than the shell.
limit() {
  local hard
  hard="$(ulimit -H "$1")"
  if [ "$hard" = unlimited ] || [ "$hard" -gt 30000 ]; then hard=30000; fi
  echo "$hard"
}

install_podman() {
  local packages=(podman buildah runc debootstrap fuse-overlayfs netavark aardvark-dns iptables)
  if ! dpkg-query --show "${packages[@]}" >/dev/null 2>&1; then
    apt-get update -qq
    DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${packages[@]}" >/dev/null
  fi
  mkdir -p /etc/containers
  # podman's defaults fail without systemd, with hybrid control groups, or where limits cannot be raised.
  if [ ! -e /etc/containers/containers.conf ]; then
    printf '%s\n' '[engine]' 'runtime = "runc"' 'cgroup_manager = "cgroupfs"' 'events_logger = "file"' '[containers]' \
      "default_ulimits = [\"nofile=$(limit -n):$(limit -n)\", \"nproc=$(limit -u):$(limit -u)\"]" \
      >/etc/containers/containers.conf
  fi
  if [ ! -e /etc/containers/policy.json ]; then
    echo '{"default": [{"type": "insecureAcceptAnything"}]}' >/etc/containers/policy.json
  fi
}

# Debian with this machine's Node and npm, and the certificates that this machine trusts.
make_slim() {
  local root="$work/root" mirror changes=() name
  mirror="$(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' 'Origin: Debian' 'Codename: bookworm' \
    | sort -u | sed -n 1p)"
  debootstrap --variant=minbase --include=ca-certificates bookworm "$root" "$mirror" >"$work/debootstrap.log" \
    || { tail -n 20 "$work/debootstrap.log" >&2; return 1; }
  install "$(node -p process.execPath)" "$root/usr/bin/node"
  mkdir -p "$root/usr/lib/node_modules"
  cp -a "$(npm root --global)/npm" "$root/usr/lib/node_modules/"
  for name in npm npx; do ln -sf "../lib/node_modules/npm/bin/$name-cli.js" "$root/usr/bin/$name"; done
  chroot "$root" useradd --create-home --uid 1000 node
  cp "${NODE_EXTRA_CA_CERTS:-/etc/ssl/certs/ca-certificates.crt}" "$root/etc/ssl/machine.crt"
  for name in NODE_EXTRA_CA_CERTS SSL_CERT_FILE PIP_CERT REQUESTS_CA_BUNDLE NPM_CONFIG_CAFILE; do
    changes+=(--change "ENV $name=/etc/ssl/machine.crt")
  done
  changes+=(--change 'ENV PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin')
  tar -C "$root" -c . | podman import --quiet "${changes[@]}" - "$slim"
}

# A target of the Containerfile, under the name of the image that it stands for.
make_target() {
  podman build --quiet --network host --target "$1" --tag "$2" -f "$here/Containerfile" "$work" >/dev/null
}

# The name with the registry that podman would ask.
qualified() {
  case "$1" in */*) echo "docker.io/$1" ;; *) echo "docker.io/library/$1" ;; esac
}

install_podman
podman image exists "$slim" || make_slim
podman image exists "$full" || make_target build "$full"

# Whatever the files of docker/ name, except what only `--profile watch` starts.
cp "$here"/*.sh "$work/"
server="${XDG_CACHE_HOME:-$HOME/.cache}/voice-service/tools/versitygw-1.8.0/versitygw"
if [ -x "$server" ]; then cp "$server" "$work/versitygw"; else cp "$(command -v versitygw)" "$work/versitygw"; fi
images="$(sed -nE 's/^ +image: (.*[:].*)$/\1/p' "$docker/compose.scale.yaml"
  sed -nE 's/^FROM (nvidia\/[^ ]+).*$/\1/p' "$docker/Dockerfile.cuda")"
for image in $images; do
  target="${image##*/}"
  target="${target%%:*}"
  if ! grep -q "^FROM .* AS $target\$" "$here/Containerfile"; then continue; fi
  podman image exists "$(qualified "$image")" || make_target "$target" "$(qualified "$image")"
done
podman images --filter label=voice-service.stand-in --format '{{.Repository}}:{{.Tag}}'
