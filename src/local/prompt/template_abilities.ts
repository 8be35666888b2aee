/**
 * The parts of a conversation that a chat template writes into the prompt.
 *
 * Many templates leave out what they do not know without an error: the system message (Phi 3 and 4), tools that are not part of
 * a message (Phi 4 Mini), calls (Granite 3, LFM2) or results (Gemma 4). They are rendered once to find that out.
 *
 * @module
 */

import type { CallFormat } from "./call_format.ts";
import type { ChatMessage, ChatTool } from "./chat_message.ts";

/** The parts of a conversation that appear in the prompt. */
export interface TemplateAbilities {
  /** Whether a system message does. */
  readonly hasSystem: boolean;
  /** Whether tools, their results and their calls do, the calls in a format that replies are parsed for. */
  readonly hasTools: boolean;
}

/** Renders a conversation. Throws if the template does. */
type Render = (messages: readonly ChatMessage[], tools: readonly ChatTool[]) => string;

const NAME = "probe_tool";
const SYSTEM = "probe system";
const DESCRIPTION = "probe description";
const VALUE = "probe value";
const RESULT = "probe result";
const QUESTION: ChatMessage = { role: "user", content: "Question" };
const TOOL: ChatTool = {
  type: "function",
  function: {
    name: NAME,
    description: DESCRIPTION,
    parameters: { type: "object", properties: { text: { type: "string" } }, required: ["text"] },
  },
};
const CALL_ID = "000000001";
const CALL: ChatMessage = {
  role: "assistant",
  content: "",
  tool_calls: [{
    type: "function",
    id: CALL_ID,
    function: { name: NAME, arguments: { text: VALUE } },
  }],
};
const ANSWER: ChatMessage = { role: "tool", name: NAME, tool_call_id: CALL_ID, content: RESULT };
/** A call of the format that has no texts around it. */
const BARE_CALL = new RegExp(String.raw`"name"\s*:\s*"${NAME}"\s*,\s*"parameters"`);

/** Finds the parts that a template writes. One that refuses to write a part is assumed to know it otherwise. */
export function findAbilities(render: Render, format: CallFormat): TemplateAbilities {
  const system: ChatMessage = { role: "system", content: SYSTEM };
  const described = tryRender(() => render([QUESTION], [TOOL]));
  const called = tryRender(() => render([QUESTION, CALL, ANSWER], [TOOL]));
  const hasTools = (described?.includes(DESCRIPTION) ?? true) &&
    (!called || hasCall(called, format));
  const asked = tryRender(() => render([system, QUESTION], []));
  // Mistral Nemo writes the system message into the last message, if that is one of the user.
  const answered = hasTools && called
    ? tryRender(() => render([system, QUESTION, CALL, ANSWER], [TOOL]))
    : undefined;
  const hasSystem = (asked?.includes(SYSTEM) ?? true) && (answered?.includes(SYSTEM) ?? true);
  return { hasSystem, hasTools };
}

function hasCall(text: string, { open }: CallFormat): boolean {
  const isReadable = open === "" ? BARE_CALL.test(text) : text.includes(open);
  return isReadable && text.includes(VALUE) && text.includes(RESULT);
}

function tryRender(render: () => string): string | undefined {
  try {
    return render();
  } catch {
    return undefined;
  }
}
