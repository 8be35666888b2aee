import { createOpenAICompatible } from "npm:@ai-sdk/openai-compatible@2.0.92";
import {
  generateText,
  isStepCount,
  type ModelMessage,
  tool,
  type ToolApprovalResponse,
} from "npm:ai@7.0.173";
import { z } from "npm:zod@4.6.7";

const lab = createOpenAICompatible({
  name: "lab",
  baseURL: Deno.env.get("LAB_URL") ?? "",
  apiKey: "key",
});
const cwd = await Deno.realPath(Deno.env.get("WORK_DIR") ?? ".");
const path = z.string().describe("Path relative to the project");

async function resolve(path: string) {
  const file = `${cwd}/${path}`;
  const real = await Deno.realPath(file);
  if (!real.startsWith(`${cwd}/`)) throw new Error(`${path} is outside of the project`);
  return real;
}

const tools = {
  read_file: tool({
    description: "Reads a text file.",
    inputSchema: z.object({ path }),
    execute: async ({ path }) => await Deno.readTextFile(await resolve(path)),
  }),
  edit_file: tool({
    description: "Replaces a text that occurs once in a file.",
    inputSchema: z.object({ path, old_string: z.string(), new_string: z.string() }),
    async execute({ path, old_string, new_string }) {
      const file = await resolve(path);
      const parts = (await Deno.readTextFile(file)).split(old_string);
      if (parts.length !== 2) throw new Error(`The text occurs ${parts.length - 1} times`);
      await Deno.writeTextFile(file, parts.join(new_string));
      return "Replaced";
    },
  }),
  bash: tool({
    description: "Runs a command in the project.",
    inputSchema: z.object({ command: z.string() }),
    async execute({ command }, { abortSignal }) {
      const { code, stdout, stderr } = await new Deno.Command("bash", {
        args: ["-c", command],
        cwd,
        signal: abortSignal,
      }).output();
      const decoder = new TextDecoder();
      return `Exit code: ${code}\n${decoder.decode(stdout)}${decoder.decode(stderr)}`;
    },
  }),
};

interface Session {
  messages: ModelMessage[];
  pending: { approvalId: string; toolName: string; input: unknown }[];
}
const sessions = new Map<string, Session>();

async function run(session: Session) {
  const { responseMessages, content } = await generateText({
    model: lab("large"),
    instructions: "You change the project in the current directory.",
    stopWhen: isStepCount(50),
    tools,
    toolApproval: { edit_file: "user-approval", bash: "user-approval" },
    messages: session.messages,
  });
  session.messages.push(...responseMessages);
  session.pending = content.flatMap((part) =>
    part.type === "tool-approval-request" && !part.isAutomatic
      ? [{ approvalId: part.approvalId, ...part.toolCall }]
      : []
  );
}

export async function handle(request: Request): Promise<Response> {
  const [, id = "", action] = new URL(request.url).pathname.split("/");
  const session = sessions.get(id) ?? { messages: [], pending: [] };
  sessions.set(id, session);
  if (request.method === "POST" && action === "prompt") {
    session.messages.push({ role: "user", content: await request.text() });
    await run(session);
  }
  if (request.method === "POST" && action === "approvals") {
    const decisions: Record<string, boolean> = await request.json();
    const content = session.pending.map(({ approvalId }): ToolApprovalResponse => ({
      type: "tool-approval-response",
      approvalId,
      approved: decisions[approvalId] === true,
    }));
    session.messages.push({ role: "tool", content });
    await run(session);
  }
  return Response.json(session);
}
