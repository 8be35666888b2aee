/**
 * A private Restate server for tests: on ports of the loopback interface, in a temporary directory.
 *
 * @module
 */

import { DEADLINE_MS } from "../deadline.ts";

const PLATFORM = `${Deno.build.os}-${Deno.build.arch === "x86_64" ? "x64" : "arm64"}`;

/** Path of the server, which `scripts/install_restate.ts` installs; `undefined` if it is not installed. */
export const RESTATE_PATH: string | undefined = findServer();

/** A running server. */
export interface RestateServer {
  /** URL of the ingress. */
  readonly ingressUrl: string;
  /** URL of the admin API. */
  readonly adminUrl: string;
  /** Stops the server and removes its directory. */
  stop(): Promise<void>;
}

/** Starts a server. */
export async function startRestate(): Promise<RestateServer> {
  const directory = await Deno.makeTempDir({ prefix: "swink_restate_" });
  const [ingress, admin, node] = findFreePorts(3).map((port) => `127.0.0.1:${port}`);
  const process = new Deno.Command(RESTATE_PATH ?? "", {
    args: ["--base-dir", directory, "--no-logo", "--listen-mode", "tcp"],
    env: {
      RESTATE_INGRESS__BIND_ADDRESS: ingress ?? "",
      RESTATE_ADMIN__BIND_ADDRESS: admin ?? "",
      RESTATE_BIND_ADDRESS: node ?? "",
      RESTATE_ADVERTISED_ADDRESS: `http://${node}`,
      RESTATE_DISABLE_TELEMETRY: "true",
      RESTATE_DEFAULT_NUM_PARTITIONS: "1",
      RESTATE_LOG_FILTER: "error",
    },
    stdin: "null",
    stdout: "null",
    stderr: "null",
  }).spawn();
  const adminUrl = `http://${admin}`;
  const ingressUrl = `http://${ingress}`;
  await untilHealthy(`${adminUrl}/health`);
  await untilHealthy(`${ingressUrl}/restate/health`);
  return {
    ingressUrl,
    adminUrl,
    stop: async () => {
      process.kill("SIGKILL");
      await process.status;
      await Deno.remove(directory, { recursive: true });
    },
  };
}

function findServer(): string | undefined {
  const path =
    `dist/restate/node_modules/@restatedev/restate-server-${PLATFORM}/bin/restate-server`;
  const url = new URL(`../../${path}`, import.meta.url);
  try {
    return Deno.statSync(url).isFile ? url.pathname : undefined;
  } catch {
    return undefined;
  }
}

function findFreePorts(count: number): number[] {
  const listeners = Array.from(
    { length: count },
    () => Deno.listen({ hostname: "127.0.0.1", port: 0 }),
  );
  const ports = listeners.map(({ addr }) => addr.port);
  for (const listener of listeners) listener.close();
  return ports;
}

async function untilHealthy(url: string): Promise<void> {
  const deadline = performance.now() + DEADLINE_MS;
  while (true) {
    const response = await fetch(url).catch(() => undefined);
    await response?.body?.cancel();
    if (response?.ok) return;
    if (performance.now() > deadline) {
      throw new Error(`The server of Restate did not start: ${url}`);
    }
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
