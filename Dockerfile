# One image with all programs, on Debian 13. The steps are those of any machine: deploy/install.sh, cmake, ninja.
#
#   docker build -t houtu .
#   docker run --rm -v /etc/houtu:/etc/houtu:ro houtu houtu-master --config /etc/houtu/master.yaml
#
# Master and client run as the user houtu. The agent makes containers (namespaces, mounts, cgroups), so it alone
# needs root and its host's control groups:
#   docker run --user root --privileged --cgroupns host --network host -v /sys/fs/cgroup:/sys/fs/cgroup \
#     -v /var/lib/houtu:/var/lib/houtu -v /etc/houtu:/etc/houtu:ro houtu houtu-agent --config /etc/houtu/agent.yaml
FROM debian:13 AS build
COPY deploy /src/deploy
RUN /src/deploy/install.sh --build
COPY . /src
RUN cd /src && cmake --preset release && ninja -C build/release && ctest --test-dir build/release -L unit --output-on-failure

FROM debian:13
COPY deploy /opt/houtu/deploy
# Where the kernel that builds the image does not pass CRIU's check, the agent's machine runs install-criu.sh.
RUN /opt/houtu/deploy/install.sh --runtime && rm -rf /var/lib/apt/lists/* && \
    useradd --system --home-dir /var/lib/houtu --create-home houtu
COPY --from=build /src/build/release/bin/ /opt/houtu/bin/
ENV PATH=/opt/houtu/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
USER houtu
CMD ["houtu", "--help"]
