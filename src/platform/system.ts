/**
 * The operating system: files, processes and sockets.
 *
 * @module
 */

import type { FileCalls } from "./file_calls.ts";
import { nodeFiles } from "./node_files.ts";
import { createNodeProcesses } from "./node_processes.ts";
import { nodeSockets } from "./node_sockets.ts";
import type { ProcessCalls } from "./process_calls.ts";
import type { SocketCalls } from "./socket_calls.ts";

/**
 * The operations of the operating system in use. The names and the behaviour are those of the `Deno` namespace, which
 * implements them on Deno; on other runtimes they use the modules of Node.
 *
 * Deno has these modules, too, but loading them delays the first request of a program by 35 ms, and most calls take two
 * to three times as long.
 */
export interface System extends FileCalls, ProcessCalls, SocketCalls {}

/** Creates the operations for a runtime other than Deno. In a browser, most of them throw a `BadRequestError`. */
export function createNodeSystem(): System {
  return { ...nodeFiles, ...createNodeProcesses(), ...nodeSockets };
}

/** Whether the runtime is Deno. */
export const isDeno: boolean = typeof Deno !== "undefined";

/** The operations for this runtime. */
export const system: System = typeof Deno === "undefined" ? createNodeSystem() : Deno;
