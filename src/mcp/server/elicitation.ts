/**
 * Requests of servers for data of the user.
 *
 * @module
 */

import { isJsonObject, type JsonObject } from "../../core/json/json.ts";
import { abortable } from "../../core/ports/abortable.ts";
import type { McpElicit, McpElicitation, McpElicitationAnswer } from "../config/options.ts";
import type { ProtocolClient } from "../protocol/client_package.ts";
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

/** Answers a request with these parameters; the signal aborts when the server no longer waits. */
export type ElicitationHandler = (
  params: unknown,
  signal: AbortSignal,
) => Promise<{ readonly action: "accept" | "decline" | "cancel" }>;

/**
 * Answers the requests of a server, as long as this program waits for an answer of the server itself: after that, nothing
 * needs the data. They are answered through a function of the program,
 * one at a time. Returns the function that answers them.
 */
export function handleElicitation(
  client: ProtocolClient,
  options: ElicitationOptions,
): ElicitationHandler {
  const handle = createHandler(options);
  client.setRequestHandler(
    "elicitation/create",
    ({ params }, { mcpReq }) => handle(params, mcpReq.signal),
  );
  return handle;
}

function createHandler(
  { server, elicit, requests, report }: ElicitationOptions,
): ElicitationHandler {
  let pending = 0;
  const asked = new WeakMap<AbortSignal, number>();
  let last: Promise<unknown> = Promise.resolve();
  return async (params, requestSignal) => {
    const { signal: active } = requests;
    if (!active) return { action: "cancel" };
    const signal = AbortSignal.any([requestSignal, active]);
    const elicitation = parseRequest(params, { server, signal });
    const count = asked.get(active) ?? 0;
    if (!elicitation || pending >= MAX_PENDING) return { action: "decline" };
    if (count >= MAX_ASKED) {
      report(`asked the user ${MAX_ASKED} times for data during a call, and asks no more`);
      return { action: "decline" };
    }
    asked.set(active, count + 1);
    pending++;
    const answer = requests.whileAsking(() => last.then(() => askUser(elicit, elicitation)));
    last = answer;
    try {
      return toResponse(await answer);
    } finally {
      pending--;
    }
  };
}

/** The JSON-RPC code of a call that a server refuses until the user has visited pages. */
const PAGES_REQUIRED = -32042;

/**
 * Asks the user to visit the pages that a server requires before a call. Returns the error for the model, which is another
 * one if there are such pages.
 */
export async function showRequiredPages(
  error: unknown,
  handle: ElicitationHandler,
  signal: AbortSignal,
): Promise<unknown> {
  const pages = listRequiredPages(error);
  for (const page of pages) {
    const { action } = await handle({ ...page, mode: "url" }, signal);
    if (action === "accept") continue;
    return new Error("The server requires that the user visits a page first, which was declined");
  }
  return pages.length === 0 ? error : new Error(
    "The server required that the user visits a page first, which the user has confirmed. Call the tool again",
  );
}

function listRequiredPages(error: unknown): readonly JsonObject[] {
  if (!(error instanceof Error && "code" in error && error.code === PAGES_REQUIRED)) return [];
  const { elicitations } = "data" in error && isJsonObject(error.data) ? error.data : {};
  return Array.isArray(elicitations) ? elicitations.filter(isJsonObject) : [];
}

function parseRequest(
  params: unknown,
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

function toResponse(answer: McpElicitationAnswer): Awaited<ReturnType<ElicitationHandler>> {
  switch (answer?.type) {
    case "accepted":
      return { action: "accept", ...(answer.content && { content: answer.content }) };
    case "cancelled":
      return { action: "cancel" };
    default:
      return { action: "decline" };
  }
}
