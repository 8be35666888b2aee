/**
 * The methods of a server of the protocol version 2026-07-28, which has no sessions and answers `server/discover`.
 *
 * @module
 */

import type { MockHandler, MockMessage } from "./mock_server.ts";

const COMPLETE = { resultType: "complete", ttlMs: 0, cacheScope: "private" };

/** Creates the handlers of a server; `getTools` returns its tools. */
export function createModernHandlers(
  getTools: () => readonly unknown[],
): Readonly<Record<string, MockHandler>> {
  return {
    "initialize": ({ id }, process) =>
      process.send({ id, error: { code: -32601, message: "Method not found" } }),
    "server/discover": () => ({
      ...COMPLETE,
      supportedVersions: ["2026-07-28"],
      capabilities: { tools: { listChanged: true } },
      instructions: "Be careful",
      _meta: { "io.modelcontextprotocol/serverInfo": { name: "modern", version: "2" } },
    }),
    "tools/list": () => ({ ...COMPLETE, tools: getTools() }),
    "tools/call": ({ params }) => ({
      resultType: "complete",
      content: [{ type: "text", text: params.arguments.text }],
    }),
    "subscriptions/listen": ({ id, params }, process) => {
      const _meta = { "io.modelcontextprotocol/subscriptionId": id };
      const { notifications } = params;
      process.send({
        method: "notifications/subscriptions/acknowledged",
        params: { _meta, notifications },
      });
    },
  };
}

/** A tool that asks for the name of the user, in the result of the first call. */
export function askInResult({ params }: MockMessage): object {
  const { inputResponses } = params;
  if (inputResponses) {
    const text = JSON.stringify(inputResponses);
    return { resultType: "complete", content: [{ type: "text", text }] };
  }
  const requestedSchema = { type: "object", properties: { name: { type: "string" } } };
  return {
    resultType: "input_required",
    requestState: "1",
    inputRequests: {
      name: { method: "elicitation/create", params: { message: "Your name?", requestedSchema } },
    },
  };
}
