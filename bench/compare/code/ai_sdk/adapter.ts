import type {
  LanguageModelV4,
  LanguageModelV4CallOptions,
  LanguageModelV4Content,
  LanguageModelV4Message,
  LanguageModelV4StreamPart,
} from "npm:@ai-sdk/provider@4.0.38";
import { APICallError } from "npm:@ai-sdk/provider@4.0.38";
import { isStepCount, tool, ToolLoopAgent } from "npm:ai@7.0.173";
import { z } from "npm:zod@4.6.7";

function toAcmeMessages(message: LanguageModelV4Message): object[] {
  switch (message.role) {
    case "system":
      return [{ from: "system", text: message.content }];
    case "user":
      return [{
        from: "user",
        text: message.content.map((part) => part.type === "text" ? part.text : "").join(""),
      }];
    case "assistant":
      return [{
        from: "model",
        text: message.content.map((part) => part.type === "text" ? part.text : "").join(""),
        calls: message.content.flatMap((part) =>
          part.type === "tool-call"
            ? [{ id: part.toolCallId, name: part.toolName, args: part.input }]
            : []
        ),
      }];
    case "tool":
      return message.content.flatMap((part) => {
        if (part.type !== "tool-result") return [];
        const { output } = part;
        const text = "value" in output ? output.value : output.reason;
        return [{ from: "tool", call: part.toolCallId, text }];
      });
  }
}

function createAcme({ baseUrl, apiKey }: { baseUrl: string; apiKey: string }) {
  return (modelId: string): LanguageModelV4 => {
    async function doStream({ prompt, tools, abortSignal }: LanguageModelV4CallOptions) {
      const url = `${baseUrl}/chat`;
      const body = { model: modelId, messages: prompt.flatMap(toAcmeMessages), tools };
      const response = await fetch(url, {
        method: "POST",
        headers: { "content-type": "application/json", "acme-key": apiKey },
        body: JSON.stringify(body),
        signal: abortSignal,
      });
      if (!response.ok || !response.body) {
        throw new APICallError({
          message: await response.text(),
          url,
          requestBodyValues: body,
          statusCode: response.status,
        });
      }
      let buffer = "";
      let hasCall = false;
      let isTextOpen = false;
      const lines = new TransformStream<string, LanguageModelV4StreamPart>({
        start(controller) {
          controller.enqueue({ type: "stream-start", warnings: [] });
        },
        transform(chunk, controller) {
          buffer += chunk;
          const complete = buffer.split("\n");
          buffer = complete.pop() ?? "";
          for (const line of complete) {
            const { text, call, usage } = JSON.parse(line);
            if (text) {
              if (!isTextOpen) controller.enqueue({ type: "text-start", id: "0" });
              isTextOpen = true;
              controller.enqueue({ type: "text-delta", id: "0", delta: text });
            }
            if (call) {
              hasCall = true;
              controller.enqueue({
                type: "tool-call",
                toolCallId: call.id,
                toolName: call.name,
                input: JSON.stringify(call.args),
              });
            }
            if (usage) {
              if (isTextOpen) controller.enqueue({ type: "text-end", id: "0" });
              const { input, output } = usage;
              controller.enqueue({
                type: "finish",
                finishReason: { unified: hasCall ? "tool-calls" : "stop", raw: undefined },
                usage: {
                  inputTokens: { total: input, noCache: input, cacheRead: 0, cacheWrite: 0 },
                  outputTokens: { total: output, text: output, reasoning: 0 },
                },
              });
            }
          }
        },
      });
      return { stream: response.body.pipeThrough(new TextDecoderStream()).pipeThrough(lines) };
    }
    return {
      specificationVersion: "v4",
      provider: "acme",
      modelId,
      supportedUrls: {},
      doStream,
      async doGenerate(options) {
        const content: LanguageModelV4Content[] = [];
        let text = "";
        for await (const part of (await doStream(options)).stream) {
          if (part.type === "text-delta") text += part.delta;
          if (part.type === "tool-call") content.push(part);
          if (part.type === "finish") {
            if (text) content.unshift({ type: "text", text });
            return { content, finishReason: part.finishReason, usage: part.usage, warnings: [] };
          }
        }
        throw new Error("The reply has no end");
      },
    };
  };
}

const orders = tool({
  description: "Lists the orders of the user.",
  inputSchema: z.object({ year: z.int() }),
  contextSchema: z.object({ user: z.string() }),
  async *execute({ year }, { context }) {
    yield `reading the orders of ${context.user}`;
    yield `${year}: lamp, paid with card 4111111111111111`.replaceAll(/\d{16}/g, "[card]");
  },
});

const agent = new ToolLoopAgent({
  model: createAcme({ baseUrl: Deno.env.get("ACME_URL") ?? "", apiKey: "secret" })("acme-1"),
  stopWhen: isStepCount(20),
  tools: { orders },
  toolsContext: { orders: { user: "ada" } },
});
const stream = await agent.stream({ prompt: "What did I buy?" });
for await (const part of stream.stream) {
  if (part.type === "tool-result" && part.preliminary) console.log(part.output);
  if (part.type === "error") console.error(part.error);
}
console.log(await stream.text, (await stream.totalUsage).totalTokens);
