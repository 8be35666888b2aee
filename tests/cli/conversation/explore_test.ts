import { scriptedReply, scriptedCall } from "/work/dev/conv3/tests/cli/fake_host.ts";
import { typeConversation } from "/work/dev/conv3/tests/cli/conversation/plain_conversation.ts";

Deno.test({ name: "explore", sanitizeOps: false, sanitizeResources: false, async fn() {
  await using c = await typeConversation({
    model: [
      scriptedReply("I look.", scriptedCall("list_directory"), scriptedCall("write_file", { path: "a.txt", content: "one\ntwo\n" })),
      scriptedReply("```ts\nconst x = 1;\n```\nDone."),
      scriptedReply(scriptedCall("bash", { command: "echo hi > b.txt; ls" })), scriptedReply("ok"),
      scriptedReply("third"),
    ],
    typed: ["Write a file", "y", "#help", "/help model", "#info", "/hlep", "", "Run", "r", "not now", "#approve off", "#approve", "/usage", "/undo", "/undo", "/context", "#save My title", "#sessions", "/tree", "/rewind", "y", "/tree", "/thinking high", "/model next", "/net on", "/queue", "/expand", "/expand 2", "/diff", "/tools", "/agents", "/skills", "/mcp", "/theme light", "/export x.md", "/fork", "!echo hello; exit 3", "!!pwd", "#copy", "/plan", "/plan", "/execute", "/edit-plan", "/doctor", "#keys", "#key anthropic", "/reset", "#sessions", "/resume 1", "1", "sk-ant-REDACTED", "/quit"],
  });
  console.log(c.transcript);
  console.log(JSON.stringify(c.requests.at(-1)?.messages, null, 1));
}});
