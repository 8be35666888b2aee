/**
 * The modules that a process loads, observed through the inspector.
 *
 * @module
 */

import type { SwinkProcess } from "./swink_process.ts";

/** Collects the URLs of the modules that a process loads. Disposing of it disconnects. */
export interface LoadedModules extends AsyncDisposable {
  /** URLs of the modules, in the order of their loading. */
  readonly urls: readonly string[];
}

/** Connects to a process that waits for a debugger, and lets it start. */
export async function observeLoadedModules(process: SwinkProcess): Promise<LoadedModules> {
  await process.waitForText("Visit chrome://inspect");
  const [url = ""] = /ws:\S+/.exec(process.messages) ?? [];
  const socket = new WebSocket(url);
  const urls: string[] = [];
  socket.addEventListener("message", ({ data }) => {
    const { method, params } = JSON.parse(data);
    if (method === "Debugger.scriptParsed") urls.push(params.url);
  });
  await waitForEvent(socket, "open");
  for (const [id, method] of ["Debugger.enable", "Runtime.runIfWaitingForDebugger"].entries()) {
    socket.send(JSON.stringify({ id, method }));
  }
  return {
    urls,
    async [Symbol.asyncDispose]() {
      if (socket.readyState === WebSocket.CLOSED) return;
      const closed = waitForEvent(socket, "close");
      socket.close();
      await closed;
    },
  };
}

function waitForEvent(socket: WebSocket, type: "open" | "close"): Promise<void> {
  return new Promise((resolve, reject) => {
    socket.addEventListener(type, () => resolve());
    if (type === "open") socket.addEventListener("error", () => reject(new Error("No inspector")));
  });
}
