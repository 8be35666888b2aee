/**
 * Random conversations with everything that can end or change a run: a chat never fails on their chunks.
 *
 * @module
 */

import {
  convertToModelMessages,
  lastAssistantMessageIsCompleteWithApprovalResponses,
  lastAssistantMessageIsCompleteWithToolCalls,
  safeValidateUIMessages,
  type UIMessage,
} from "ai";
import { assert, assertEquals } from "@std/assert";
import { Agent, type Approve, defineTool, type Policy, type StreamFn } from "../../mod.ts";
import { toUiMessages } from "../../src/protocols/ai_sdk/mod.ts";
import { subAgentTool } from "../../src/sub_agents/mod.ts";
import {
  fail,
  hang,
  reply,
  scriptedStream,
  seededRandom,
  toolCall,
} from "../../src/testing/mod.ts";
import { TestChat } from "./test_chat.ts";

/** A number below a limit. */
type Choose = (limit: number) => number;

const TOOLS = ["look", "pay", "locate", "explore", "unknown"];

const clientTools = [{
  name: "locate",
  description: "Returns the place of the user.",
  parameters: { type: "object", properties: { part: { type: "number" } } },
}];

/** Creates a model whose replies have up to three random blocks; some fail, hang or come from the next model. */
function createModel(choose: Choose): StreamFn {
  let parts = 0;
  const createBlock = () => {
    const part = ++parts;
    const name = TOOLS[choose(TOOLS.length)] ?? "";
    if (choose(3) === 0) return { type: "text", text: `text ${part}` } as const;
    if (choose(5) === 0) return { type: "thinking", thinking: `thought ${part}` } as const;
    const args = name === "explore" ? { prompt: "Explore" } : { part };
    // The chat adds the output of a tool of the page to the first call with its id.
    const isRepeated = name !== "locate" && choose(3) === 0;
    return toolCall(name, args, { id: isRepeated ? "same" : `call:${part}` });
  };
  return (request) => {
    const blocks = Array.from({ length: choose(4) }, createBlock);
    const steps = [
      fail("network_error", "down", { after: blocks }),
      hang({ after: `text ${++parts}` }),
      reply(`text ${++parts}`),
      ...[blocks, blocks, blocks, blocks].map((content) => reply(content)),
    ];
    return scriptedStream([steps[choose(steps.length)] ?? reply("")])(request);
  };
}

function createTools(choose: Choose, getAgent: () => Agent) {
  const execute = (
    _args: unknown,
    { onUpdate, run }: {
      readonly onUpdate: (update: string) => void;
      readonly run?: { background(work: () => Promise<string>): void } | undefined;
    },
  ) => {
    const agent = getAgent();
    const actions = [
      () => onUpdate("half"),
      () => agent.steer("Be brief"),
      () => agent.emitCustom("odd name\n", { percent: 50 }),
      () => run?.background(() => Promise.resolve("later")),
      () => agent.abort("enough"),
      () => {
        throw new Error("No disk");
      },
    ];
    actions[choose(actions.length * 2)]?.();
    return { content: [{ type: "text", text: "seen" } as const], details: { choice: choose(9) } };
  };
  return [
    defineTool({ name: "look", description: "Looks.", parameters: {}, execute }),
    defineTool({ name: "pay", description: "Pays.", parameters: {}, execute }),
    subAgentTool({ name: "explore", description: "Looks around.", tools: [] }),
  ];
}

function createAgent(choose: Choose): Agent {
  const approve: Approve = ({ name }) => {
    if (name === "look") return choose(8) > 0;
    return choose(2) === 0 ? { type: "pending" } : choose(4) > 0;
  };
  const policy: Policy = {
    name: "random",
    preTurn: () => choose(12) === 0 ? { type: "stop", reason: "chance" } : undefined,
    postTurn: () => choose(12) === 0 ? { type: "stop", reason: "chance" } : undefined,
  };
  const agent: Agent = new Agent({
    model: "test/model",
    streamFn: createModel(choose),
    retry: () => choose(3) === 0 ? null : 0,
    sleep: () => Promise.resolve(),
    maxTurns: 6,
    approve,
    policies: [policy],
    tools: createTools(choose, () => agent),
  });
  agent.subscribe((event) => {
    if (event.type === "message_update" && choose(20) === 0) agent.emitCustom("__proto__", null);
  });
  return agent;
}

/** Returns the parts of a conversation in order, without those that only a stream has. */
function listShown(messages: readonly UIMessage[]): unknown[] {
  const shown = messages.flatMap(({ role, parts }) =>
    parts.flatMap((part): unknown[] => {
      if (part.type === "steering-message") return [["user", part.parts]];
      if (part.type === "step-start" || part.type.startsWith("data-")) return [];
      if ("toolCallId" in part) return isCutOff(part) ? [] : [describeCall(part)];
      if (role === "user") return [["user", [part]]];
      return "text" in part ? [[part.type, part.text]] : [part];
    })
  );
  return JSON.parse(JSON.stringify(shown));
}

type ToolPart = Extract<UIMessage["parts"][number], { toolCallId: string }>;

function isCutOff({ errorText = "" }: ToolPart): boolean {
  return errorText.startsWith("The reply was cut off");
}

/**
 * A page that is loaded again has a refused call as one that has failed. One whose user has sent a message in place of an
 * answer keeps the question in the earlier answer.
 */
function describeCall(
  { type, toolCallId, state, input, output, errorText = "" }: ToolPart,
): unknown {
  // A page may have an output that it has not sent yet.
  if (type === "tool-locate") return [type, toolCallId, input];
  const isRefused = state.startsWith("approval-") || state === "output-denied" ||
    /not approved|rejected by approval|not found/.test(errorText);
  return isRefused
    ? [type, toolCallId, "not run", input]
    : [type, toolCallId, state, input, output, errorText];
}

const MAX_REQUESTS = 30;

/** Has a page talk to an agent: it answers questions, runs its tools, and leaves some runs. */
async function talk(agent: Agent, choose: Choose): Promise<TestChat> {
  let requests = 0;
  const chat: TestChat = new TestChat(
    { createAgent: () => agent, clientTools, messageMetadata: () => ({ total: 1 }) },
    {
      sendAutomaticallyWhen: (state) => {
        const isComplete = lastAssistantMessageIsCompleteWithToolCalls(state) ||
          lastAssistantMessageIsCompleteWithApprovalResponses(state);
        return isComplete && ++requests < MAX_REQUESTS;
      },
      onToolCall: ({ toolCall: { toolName, toolCallId } }) => {
        if (toolName !== "locate") return;
        void chat.addToolOutput({ tool: toolName, toolCallId, output: { city: "Bern" } });
      },
    },
  );
  const timers: ReturnType<typeof setTimeout>[] = [];
  agent.subscribe(({ type }) => {
    // A reply that hangs is ended, also that of a sub-agent.
    if (type === "message_update" || type === "sub_agent") {
      timers.push(setTimeout(() => agent.abort("enough"), 5));
    }
  });
  for (let prompts = 1 + choose(3); prompts > 0; prompts--) {
    await chat.sendMessage({ text: `prompt ${prompts}` });
    await chat.untilIdle();
    for (let answers = 0; answers < 10 && agent.state.pendingApprovals.length > 0; answers++) {
      const [{ toolCallId } = { toolCallId: "" }] = agent.state.pendingApprovals;
      if (choose(8) === 0) break;
      await chat.addToolApprovalResponse({ id: toolCallId, approved: choose(3) > 0 });
      await chat.untilIdle();
    }
  }
  await agent.waitForIdle();
  for (const timer of timers) clearTimeout(timer);
  assert(requests < MAX_REQUESTS, "The page would send requests for ever");
  return chat;
}

Deno.test("random conversations: a chat follows them, and a page that is loaded later shows the same", async () => {
  const cases = Deno.env.get("SWINK_PROVE") === "1" ? 1_000 : 40;
  for (let seed = 1; seed <= cases; seed++) {
    const random = seededRandom(seed);
    const agent = createAgent((limit) => Math.floor(random() * limit));
    const chat = await talk(agent, (limit) => Math.floor(random() * limit));
    const loaded = toUiMessages(agent.state.messages, agent.state);
    const { error } = chat;
    assert(!error || error.message === "down" || error.message.startsWith("{"), `${error}`);
    assertEquals([seed, listShown(chat.messages)], [seed, listShown(loaded)]);
    for (const messages of [chat.messages, loaded]) {
      const validation = await safeValidateUIMessages({ messages });
      assertEquals([seed, validation.success || validation.error.message], [seed, true]);
      await convertToModelMessages(messages);
    }
  }
});
