import { Agent } from "@swink/agent";
import { connect } from "@swink/agent/adapters";
import { FileSessionStore, openSession } from "@swink/agent/memory";

const streamFn = connect({
  providers: { lab: { baseUrl: Deno.env.get("LAB_URL"), apiKey: "key" } },
});
const store = new FileSessionStore({ directory: Deno.env.get("CHAT_DIR") ?? "sessions" });

async function openConversation(id: string) {
  const agent = new Agent({ model: "lab/large", systemPrompt: "Be brief.", streamFn });
  return { agent, session: await openSession(store, { id }, agent) };
}
const conversations = new Map<string, ReturnType<typeof openConversation>>();

export async function handle(request: Request): Promise<Response> {
  const id = new URL(request.url).pathname.split("/").at(-1) ?? "";
  const opening = conversations.get(id) ?? openConversation(id);
  conversations.set(id, opening);
  opening.catch(() => conversations.delete(id));
  const { agent } = await opening;
  if (request.method === "GET") return Response.json(agent.state.messages);
  if (request.method === "POST") {
    return agent.promptStream(await request.text()).toResponse({ format: "sse" });
  }
  agent.abort("The user stopped it");
  return Response.json(null);
}

export async function close() {
  for (const opening of conversations.values()) await (await opening).session.close();
}
