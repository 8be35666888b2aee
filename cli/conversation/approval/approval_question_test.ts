import { assertEquals } from "@std/assert";
import { codingTools } from "../../../src/tools/mod.ts";
import { createConfinementStub } from "../../../tests/sandbox/confinement_stub.ts";
import { getPlainStyle } from "../../render/style.ts";
import { createApprovalQuestion, suggestPrefix } from "./approval_question.ts";
import { findPrefix } from "./find_prefix.ts";

Deno.test("suggestPrefix(): the subcommand or script of a command, all of another one", () => {
  const prefixes = [
    ["git log --oneline", "git log"],
    ["npm run build -- --watch", "npm run build"],
    ["deno task test a.ts", "deno task test"],
    ["cargo run", "cargo run"],
    ["make", "make"],
    ["deno --version", "deno --version"],
    ["git -C sub commit -m a", "git -C sub commit -m a"],
    ["npm --prefix lib run build", "npm --prefix lib run build"],
    ["npx -y prettier --check src", "npx -y prettier --check src"],
    ["deno run -A x.ts", "deno run -A x.ts"],
    ["uv run pytest -q", "uv run pytest"],
    ["uv run python x.py", "uv run python x.py"],
    ["npx tsx x.ts", "npx tsx x.ts"],
    ["npx cross-env A=b jest", "npx cross-env A=b jest"],
    ["docker exec app ls", "docker exec app ls"],
    ["docker container exec app ls", "docker container exec app ls"],
    ["uv tool run a b", "uv tool run a b"],
    ["deno eval a", "deno eval a"],
    ["npx dotenv-cli -- a", "npx dotenv-cli -- a"],
    ["docker compose run app ls", "docker compose run app ls"],
    ["docker compose create app", "docker compose create app"],
    ["docker compose up -d", "docker compose up"],
    ["docker compose", "docker compose"],
    ["docker container ls --all", "docker container ls"],
    ["docker service create app ls", "docker service create app ls"],
    ["yarn workspace a exec ls", "yarn workspace a exec ls"],
    ["npm explore a -- ls", "npm explore a -- ls"],
    ["cargo watch -s ls", "cargo watch -s ls"],
    ["mix cmd ls", "mix cmd ls"],
    ["docker build -t app .", "docker build"],
    ["kubectl exec pod -- ls", "kubectl exec pod -- ls"],
    ["pnpm dlx a b", "pnpm dlx a b"],
    ["python3 x.py  --all", "python3 x.py --all"],
    ["rm -rf x", "rm -rf x"],
    ["a && b", undefined],
    ["pytest -k 'a  or b' tests", "pytest -k 'a  or b' tests"],
    ["a | b", undefined],
    ["", undefined],
  ];
  for (const [command = "", prefix] of prefixes) {
    assertEquals(suggestPrefix({ arguments: { command } }), prefix, command);
  }
});

Deno.test("suggestPrefix(): the directory of a path", () => {
  assertEquals(suggestPrefix({ arguments: { path: "src/a/b.ts" } }), "src/a");
  assertEquals(suggestPrefix({ arguments: { path: "b.ts" } }), ".");
  assertEquals(suggestPrefix({ arguments: { url: "x" } }), undefined);
});

Deno.test("findPrefix(): a prefix that covers the command, and none where a grant would not cover it again", async () => {
  const sandbox = createConfinementStub(true);
  const tool = codingTools().find(({ name }) => name === "bash");
  if (!tool) throw new Error("bash is missing");
  const prefixes = [
    ["npm test -- --watch", "npm test"],
    ["git commit -m 'a b'", "git commit"],
    ["git diff --submodule=log", "git diff --submodule=log"],
    ["A=b make", undefined],
    ["touch *.ts", undefined],
    ["bash build.sh", undefined],
    ["timeout 60 npm test", undefined],
    ["rm -rf ..", undefined],
  ];
  for (const [command = "", prefix] of prefixes) {
    const call = { name: "bash", arguments: { command }, tool };
    assertEquals(await findPrefix(call, sandbox), prefix, command);
  }
});

Deno.test("createApprovalQuestion(): the risk precedes the lines of the call, of which a small screen shows only the first ones", () => {
  const tool = codingTools().find(({ name }) => name === "bash");
  if (!tool) throw new Error("bash is missing");
  const { details = [] } = createApprovalQuestion({
    toolCallId: "1",
    name: "bash",
    arguments: { command: "make\nmake test" },
    tool,
    changes: [],
    context: undefined,
    signal: new AbortController().signal,
    risk: "execute",
    cause: "mode",
    reason: "A reason.",
  }, {
    style: getPlainStyle(),
    position: { number: 1, total: 1 },
    columns: 80,
    isEdited: false,
    canTrustTool: true,
    prefix: undefined,
    canSave: false,
  });
  const lines = details.map(({ text }) => text);
  assertEquals(lines, ["", "? bash", "risk: execute", "make", "make test"]);
});
