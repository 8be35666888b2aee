/**
 * A process that executes a plan, with a session on disk, and kills itself at an event. Started again, it resumes.
 *
 * @module
 */

import { extractToolCalls } from "../../src/core/messages/content.ts";
import type { LlmMessage } from "../../src/core/messages/message.ts";
import { defineTool } from "../../src/core/tools/tool.ts";
import { FileSessionStore } from "../../src/memory/file/file_store.ts";
import { openSession } from "../../src/memory/recording/open_session.ts";
import { toolCall } from "../../src/testing/messages.ts";
import { reply } from "../../src/testing/script.ts";
import { scriptedStream } from "../../src/testing/scripted_stream.ts";
import { approvePlan, createPlanExecutor, planFile } from "../../src/tools/plan/mod.ts";

/** Number of the steps of the plan. */
export const STEPS = 3;

/** Whether the process kills itself before or after an event is recorded. */
export type KillMoment = "before" | "after";

/** Writes a line at once, so that a killed process has written it. */
function print(...words: readonly unknown[]): void {
  Deno.stdout.writeSync(new TextEncoder().encode(`${words.join(" ")}\n`));
}

interface ModelCall {
  readonly name: string;
  readonly args: { readonly step: number; readonly state?: string };
}

const CALLS: readonly ModelCall[] = Array.from({ length: STEPS }, (_, index) => {
  const step = index + 1;
  return [
    { name: "update_step", args: { step, state: "in_progress" } },
    { name: "work", args: { step } },
    { name: "update_step", args: { step, state: "done" } },
  ];
}).flat();

/** Replies with the first call that has not succeeded in the conversation. */
function answer(messages: readonly LlmMessage[]) {
  const made = messages.flatMap((message) =>
    message.role === "assistant" ? extractToolCalls(message.content) : []
  );
  const succeeded = new Set(
    messages.flatMap((message) =>
      message.role === "tool_result" && !message.isError ? [message.toolCallId] : []
    ),
  );
  const isSame = ({ name, args }: ModelCall) => (call: (typeof made)[number]) =>
    call.name === name && JSON.stringify(call.arguments) === JSON.stringify(args);
  const next = CALLS.find((call) => !made.filter(isSame(call)).some(({ id }) => succeeded.has(id)));
  if (!next) return reply("All steps are done.");
  return reply([toolCall(next.name, { ...next.args }, { id: `call_${made.length + 1}` })]);
}

/** Counts the events, and kills the process at one of them. */
class Killer {
  readonly #killAt: number;
  #ticks = 0;

  constructor(killAt: number) {
    this.#killAt = killAt;
  }

  get ticks(): number {
    return this.#ticks;
  }

  tick(): void {
    if (++this.#ticks === this.#killAt) Deno.kill(Deno.pid, "SIGKILL");
  }
}

async function executePlan(
  directory: string,
  { killAt, moment }: { readonly killAt: number; readonly moment: KillMoment },
): Promise<void> {
  const killer = new Killer(killAt);
  const work = defineTool({
    name: "work",
    description: "Works on a step.",
    parameters: { type: "object", properties: { step: { type: "integer" } }, required: ["step"] },
    sideEffect: "idempotent",
    execute: ({ step }, { idempotencyKey }) => {
      const line = `${step} ${idempotencyKey}\n`;
      Deno.writeTextFileSync(`${directory}/ledger`, line, { append: true });
      killer.tick();
      return "worked";
    },
  });
  const file = planFile(`${directory}/plan.md`);
  const steps = Array.from(
    { length: 100 },
    () => (request: { readonly context: { readonly messages: readonly LlmMessage[] } }) =>
      answer(request.context.messages),
  );
  const executor = createPlanExecutor({
    file,
    agent: { model: "test/model", tools: [work], streamFn: scriptedStream(steps) },
  });
  const { agent } = executor;
  if (moment === "before") agent.subscribe(() => killer.tick());
  const store = new FileSessionStore({ directory: `${directory}/sessions` });
  const session = await openSession(store, { id: "s" }, agent);
  if (moment === "after") agent.subscribe(() => killer.tick());
  print("opened", JSON.stringify(session.plan?.steps.map(({ state }) => state) ?? null));
  agent.subscribe((event) => {
    if (event.type !== "custom" || event.name !== "plan_step") return;
    const { step, state } = event.data as { readonly step: number; readonly state: string };
    print("state", step, state);
  });
  const outcome = session.plan ? await executor.resume(session) : await start();
  await session.close();
  print("outcome", outcome.type, killer.ticks);

  async function start() {
    const approval = await approvePlan(file, { ask: ({ hash }) => ({ type: "approved", hash }) });
    if (approval.type === "refused") throw new Error(approval.reason);
    return await executor.start(approval.plan);
  }
}

if (import.meta.main) {
  const [directory = "", killAt, moment] = Deno.args;
  await executePlan(directory, {
    killAt: Number(killAt),
    moment: moment === "before" ? "before" : "after",
  });
}
