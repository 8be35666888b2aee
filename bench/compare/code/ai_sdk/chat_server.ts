import { createOpenAICompatible } from "npm:@ai-sdk/openai-compatible@2.0.92";
import {
  convertToModelMessages,
  createUIMessageStreamResponse,
  streamText,
  toUIMessageStream,
  type UIMessage,
} from "npm:ai@7.0.173";

const lab = createOpenAICompatible({
  name: "lab",
  baseURL: Deno.env.get("LAB_URL") ?? "",
  apiKey: "key",
});
const directory = Deno.env.get("CHAT_DIR");
const active = new Map<string, AbortController>();

async function load(file: string): Promise<UIMessage[]> {
  try {
    return JSON.parse(await Deno.readTextFile(file));
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return [];
    throw error;
  }
}

export async function handle(request: Request): Promise<Response> {
  const id = new URL(request.url).pathname.split("/").at(-1) ?? "";
  const file = `${directory}/${encodeURIComponent(id)}.json`;
  if (request.method === "GET") return Response.json(await load(file));
  if (request.method === "DELETE") {
    active.get(id)?.abort("The user stopped it");
    return Response.json(null);
  }
  if (active.has(id)) return Response.json({ error: "already running" }, { status: 409 });
  const controller = new AbortController();
  active.set(id, controller);
  const text = await request.text();
  const messages: UIMessage[] = [
    ...(await load(file)),
    { id: crypto.randomUUID(), role: "user", parts: [{ type: "text", text }] },
  ];
  const result = streamText({
    model: lab("large"),
    instructions: "Be brief.",
    messages: await convertToModelMessages(messages),
    abortSignal: AbortSignal.any([controller.signal, request.signal]),
  });
  return createUIMessageStreamResponse({
    stream: toUIMessageStream({
      stream: result.stream,
      originalMessages: messages,
      async onEnd({ messages }) {
        await Deno.writeTextFile(file, JSON.stringify(messages));
        active.delete(id);
      },
    }),
  });
}

export async function close() {}
