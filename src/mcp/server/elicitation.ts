/**
 * Requests of servers for data of the user.
 *
 * @module
 */

import { abortable } from "../../core/abortable.ts";
import { isJsonObject } from "../../core/json.ts";
import type { McpElicit, McpElicitation, McpElicitationAnswer } from "../config/options.ts";
import type { ProtocolClient, ServerRequest } from "../protocol/client_package.ts";

/** Maximum number of requests that wait for the user; others are declined at once. */
const MAX_PENDING = 8;

/** The abilities that a client with a function for elicitation announces. */
export const ELICITATION_CAPABILITIES = { elicitation: { form: {}, url: {} } };

/** Answers the requests of a server through a function of the program, one at a time. */
export function handleElicitation(
  client: ProtocolClient,
  { server, elicit }: { readonly server: string; readonly elicit: McpElicit },
): void {
  let pending = 0;
  let last: Promise<unknown> = Promise.resolve();
  client.setRequestHandler("elicitation/create", async (request, { mcpReq: { signal } }) => {
    const elicitation = parseRequest(request, { server, signal });
    if (!elicitation || pending >= MAX_PENDING) return { action: "decline" };
    pending++;
    const answer = last.then(() => askUser(elicit, elicitation));
    last = answer;
    try {
      return toResponse(await answer);
    } finally {
      pending--;
    }
  });
}

function parseRequest(
  { params }: ServerRequest,
  context: Pick<McpElicitation, "server" | "signal">,
): McpElicitation | undefined {
  if (!isJsonObject(params) || typeof params["message"] !== "string") return undefined;
  const { message, mode = "form", requestedSchema, url } = params;
  switch (mode) {
    case "form":
      return isJsonObject(requestedSchema)
        ? { ...context, type: "form", message, schema: requestedSchema }
        : undefined;
    case "url":
      return typeof url === "string" && /^https?:\/\//i.test(url) && URL.canParse(url)
        ? { ...context, type: "url", message, url }
        : undefined;
    default:
      return undefined;
  }
}

/** Never rejects: a function that fails declines, and a request that is no longer awaited is cancelled. */
async function askUser(
  elicit: McpElicit,
  elicitation: McpElicitation,
): Promise<McpElicitationAnswer> {
  const { signal } = elicitation;
  if (signal.aborted) return { type: "cancelled" };
  try {
    return await abortable(Promise.resolve(elicit(elicitation)), signal);
  } catch {
    return { type: signal.aborted ? "cancelled" : "declined" };
  }
}

function toResponse(answer: McpElicitationAnswer): object {
  switch (answer?.type) {
    case "accepted":
      return { action: "accept", ...(answer.content && { content: answer.content }) };
    case "cancelled":
      return { action: "cancel" };
    default:
      return { action: "decline" };
  }
}
