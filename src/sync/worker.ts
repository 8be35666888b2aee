/**
 * The worker of a synchronous run. It starts its heartbeat before it loads the agent, which may take long.
 *
 * @module
 */

import { getErrorMessage, StreamError } from "../core/errors/errors.ts";
import { getParentThread } from "../platform/worker.ts";
import { sendText, startHeartbeat } from "./sync_channel.ts";
import type { SyncRequest, SyncResponse } from "./sync_request.ts";
import { watchFailures } from "./thread_failures.ts";

getParentThread().onMessage((message) => void run(message as SyncRequest));

async function run(request: SyncRequest): Promise<void> {
  const { buffer, module } = request;
  let hasResponded = false;
  const respond = (response: string): void => {
    if (hasResponded) return;
    hasResponded = true;
    sendText(buffer, response);
  };
  const fail = (problem: string): void => {
    const error = new StreamError(`The worker with the agent of ${module} failed: ${problem}`);
    const response: SyncResponse = { type: "failed", error: error.toJSON() };
    respond(JSON.stringify(response));
  };
  watchFailures(fail);
  startHeartbeat(buffer);
  try {
    const { runRequest } = await import("./run_request.ts");
    respond(await runRequest(request));
  } catch (thrown) {
    fail(getErrorMessage(thrown));
  }
}
