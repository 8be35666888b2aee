/**
 * Profiles for `sandbox-exec`, which confines a command on macOS.
 *
 * @module
 */

import type { ConfinementPolicy } from "./confinement_policy.ts";

/** Creates a profile, in which the last matching rule decides. Files in `hidden` may not be read. */
export function createSeatbeltProfile(
  policy: Omit<ConfinementPolicy, "masked"> & { readonly hidden: readonly string[] },
): string {
  const { writable, readOnly, hidden, network, unixSockets } = policy;
  return [
    "(version 1)",
    "(allow default)",
    "(deny file-write*)",
    // Without a path, the rule would allow all writes.
    ...(writable.length === 0
      ? []
      : [`(allow file-write* ${writable.map(formatSubpath).join(" ")})`]),
    '(allow file-write* (literal "/dev/null") (literal "/dev/zero") (regex #"^/dev/fd/"))',
    ...(readOnly.length === 0
      ? []
      : [`(deny file-write* ${readOnly.map(formatSubpath).join(" ")})`]),
    // The terminals of other programs, and the own one.
    '(deny file-read-data file-write* (regex #"^/dev/(tty|pty|ptmx|console)"))',
    ...(hidden.length === 0
      ? []
      : [`(deny file-read-data file-write* ${hidden.map(formatSubpath).join(" ")})`]),
    ...createNetworkRules(network),
    ...(unixSockets ? ["(allow network* (remote unix-socket) (local unix-socket))"] : []),
    "(deny signal (target others))",
    "(allow signal (target same-sandbox))",
    "(deny process-info* (target others))",
    "(allow process-info* (target same-sandbox))",
    "(deny appleevent-send)",
    "(deny job-creation)",
  ].join("\n");
}

function createNetworkRules(network: ConfinementPolicy["network"]): string[] {
  switch (network.type) {
    case "on":
      return ["(deny network* (remote unix-socket))"];
    case "off":
      return ["(deny network*)"];
    case "proxy":
      return [
        "(deny network*)",
        `(allow network-outbound (remote ip "localhost:${network.port}"))`,
      ];
  }
}

function formatSubpath(path: string): string {
  return `(subpath ${JSON.stringify(path)})`;
}
