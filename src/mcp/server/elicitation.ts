/**
 * Requests of servers for data of the user.
 *
 * @module
 */

import { abortable } from "../../core/abortable.ts";
import { isJsonObject } from "../../core/json.ts";
import type { McpElicit, McpElicitation, McpElicitationAnswer } from "../config/options.ts";
import type { ProtocolClient, ServerRequest } from "../protocol/client_package.ts";
import type { ReportProblem } from "../protocol/repair_message.ts";
import type { ActiveRequests } from "./active_requests.ts";

/** Maximum number of requests that wait for the user; others are declined at once. */
const MAX_PENDING = 8;

/**
 * Maximum number of requests that the user is asked about while this program waits without a pause; a server that repeats
 * a question that was declined could otherwise ask without end.
 */
const MAX_ASKED = 32;

/** Maximum number of characters of a question; the rest is cut off. */
const MAX_MESSAGE = 16_384;

/** The abilities that a client with a function for elicitation announces. */
export const ELICITATION_CAPABILITIES = { elicitation: { form: {}, url: {} } };

/** Options for {@linkcode handleElicitation}. */
export interface ElicitationOptions {
  /** Name of the server. */
  readonly server: string;
  /** Asks the user. */
  readonly elicit: McpElicit;
  /** The requests to the server. */
  readonly requests: ActiveRequests;
  /** Called when requests are declined without the user. */
  readonly report: ReportProblem;
}

/**
 * Answers the requests of a server, as long as this program waits for an answer of the server itself: after that, nothing
 * needs the data. They are answered through a function of the program,
 * one at a time.
 */
export function handleElicitation(
  client: ProtocolClient,
  { server, elicit, requests, report }: ElicitationOptions,
): void {
  let pending = 0;
  const asked = new WeakMap<AbortSignal, number>();
  let last: Promise<unknown> = Promise.resolve();
  client.setRequestHandler("elicitation/create", async (request, { mcpReq }) => {
    const { signal: active } = requests;
    if (!active) return { action: "cancel" };
    const signal = AbortSignal.any([mcpReq.signal, active]);
    const elicitation = parseRequest(request, { server, signal });
    const count = asked.get(active) ?? 0;
    if (!elicitation || pending >= MAX_PENDING) return { action: "decline" };
    if (count >= MAX_ASKED) {
      report(`asked the user ${MAX_ASKED} times for data during a call, and asks no more`);
      return { action: "decline" };
    }
    asked.set(active, count + 1);
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
  const { mode = "form", requestedSchema, url } = params;
  const message = params["message"].slice(0, MAX_MESSAGE);
  switch (mode) {
    case "form":
      return isJsonObject(requestedSchema)
        ? { ...context, type: "form", message, schema: requestedSchema }
        : undefined;
    case "url":
      return typeof url === "string" && /^https?:\/\//i.test(url) && URL.canParse(url)
        ? { ...context, type: "url", message, url: new URL(url).href }
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
