import {
  Agent,
  defineTool,
  extractText,
  extractToolCalls,
  type LlmMessage,
  type Policy,
  type StreamFn,
  textResult,
  type ToolContext,
} from "@swink/agent";
import {
  type AdapterOptions,
  createStreamFn,
  NdjsonParser,
  resolveSettings,
  toResultText,
} from "@swink/agent/adapters/kit";
import { z } from "npm:zod@4.6.7";

function toAcmeMessage(message: LlmMessage): object {
  switch (message.role) {
    case "user":
      return { from: "user", text: extractText(message.content) };
    case "assistant":
      return {
        from: "model",
        text: extractText(message.content),
        calls: extractToolCalls(message.content).map((call) => ({
          id: call.id,
          name: call.name,
          args: call.arguments,
        })),
      };
    case "tool_result":
      return { from: "tool", call: message.toolCallId, text: toResultText(message) };
  }
}

function createAcme(options: AdapterOptions): StreamFn {
  const settings = resolveSettings(options, "https://api.acme.example");
  return createStreamFn({
    settings,
    apiKey: options.apiKey,
    createParser: () => new NdjsonParser(),
    prepare: ({ request: { model, context } }, key = "") => ({
      url: `${settings.baseUrl}/chat`,
      headers: { "content-type": "application/json", "acme-key": key },
      body: JSON.stringify({
        model: model.modelId,
        system: context.systemPrompt,
        messages: context.messages.map(toAcmeMessage),
        tools: context.tools,
      }),
    }),
    createReplyReader({ writer }) {
      let stopReason: "stop" | "tool_use" = "stop";
      return {
        read(line) {
          const { text, call, usage } = JSON.parse(line);
          if (text) writer.writeText(text);
          if (call) {
            stopReason = "tool_use";
            writer.writeToolCall(call.id, call.name, JSON.stringify(call.args));
          }
          if (usage) {
            const { input, output } = usage;
            const total = input + output;
            const counts = { input, output, cacheRead: 0, cacheWrite: 0, total };
            writer.finish({ stopReason, usage: counts });
          }
        },
      };
    },
  });
}

const orders = defineTool({
  name: "orders",
  description: "Lists the orders of the user.",
  parameters: z.object({ year: z.int() }),
  execute({ year }, { context, onUpdate }: ToolContext<{ user: string }>) {
    onUpdate(`reading the orders of ${context.user}`);
    return `${year}: lamp, paid with card 4111111111111111`;
  },
});
const hideCards: Policy = {
  name: "hide_cards",
  postDispatch: ({ result }) =>
    textResult(extractText(result.content).replaceAll(/\d{16}/g, "[card]")),
};

const agent = new Agent({
  model: "acme/acme-1",
  streamFn: createAcme({ baseUrl: Deno.env.get("ACME_URL"), apiKey: "secret" }),
  tools: [orders],
  policies: [hideCards],
});
agent.subscribe((event) => {
  if (event.type === "tool_execution_update") console.log(event.update);
});
const { text, error, usage } = await agent.prompt("What did I buy?", { context: { user: "ada" } });
console.log(error?.message ?? text, usage.total);
