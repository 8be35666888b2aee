import { assertEquals } from "@std/assert";
import { decideWithDenyRules } from "../../../../tests/sandbox/explain_with_gate.ts";

/** Whether a gate with one deny rule, which approves all other calls, denies a command. */
async function isDenied(rule: string, command: string): Promise<boolean> {
  const decision = await decideWithDenyRules([rule], "bash", { command });
  return decision.type === "denied";
}

Deno.test("approvalGate(): a deny rule forbids other names of a program, a sub-command and an option", async () => {
  const cases: readonly (readonly [rule: string, command: string, denied: boolean])[] = [
    ["bash(npm install *)", "npm i a", true],
    ["bash(npm install *)", "npm --prefix b add a", true],
    ["bash(npm i *)", "npm install a", true],
    ["bash(npm install *)", "npm ci", false],
    ["bash(npm install *)", "npm run i", false],
    ["bash(npm publish *)", "npm publis", true],
    ["bash(npm publish *)", "npm pack", false],
    ["bash(pip install *)", "pip3 install a", true],
    ["bash(pip install *)", "pip3.12 install a", true],
    ["bash(pip install *)", "python3 -m pip install a", true],
    ["bash(pip install *)", "python -Impip install a", true],
    ["bash(pip install *)", "python -m build -w install", false],
    ["bash(pip install *)", "python a.py -m pip install", false],
    ["bash(vercel *)", "npx -y vercel@latest deploy", true],
    ["bash(vercel deploy *)", "pnpm dlx vercel@33 --prod deploy", true],
    ["bash(ruff *)", "uvx ruff==0.1 check", true],
    ["bash(ruff *)", "uvx 'ruff>=0.1,<2' check", true],
    ["bash(ruff *)", "pipx run 'ruff[a]~=1' check", true],
    ["bash(ruff *)", "uvx 'ruff[a]@1' check", true],
    ["bash(cli *)", "npx @a/cli@1.2.3", true],
    ["bash(latest *)", "npx vercel@latest", false],
    ["bash(prisma db push *)", "yarn prisma db push", true],
    ["bash(prisma db push *)", "pnpm -rF a prisma db push --force", true],
    ["bash(prisma db push *)", "yarn workspace a prisma db push", true],
    ["bash(prisma db push *)", "yarn prisma generate", false],
    ["bash(eslint *)", "bun eslint a", true],
    ["bash(eslint *)", "deno run -A npm:eslint@8 a", true],
    ["bash(eslint *)", "deno run -A npm:@a/eslint a", true],
    ["bash(eslint *)", "node node_modules/.bin/eslint a", true],
    ["bash(eslint *)", "yarn add -D eslint", false],
    ["bash(eslint *)", "yarn workspace eslint build", false],
    ["bash(eslint *)", "pnpm --filter eslint build", false],
    ["bash(eslint *)", "deno add npm:eslint", false],
    ["bash(eslint *)", "yarn lint eslint", false],
    ["bash(kubectl delete *)", "k3s kubectl delete pod a", true],
    ["bash(kubectl delete *)", "minikube kubectl -- delete pod a", true],
    ["bash(python *)", "python3.12 a.py", true],
    ["bash(python3 *)", "python3.12 a.py", true],
    ["bash(python3 *)", "python2.7 a.py", false],
    ["bash(node *)", "node.exe a.js", true],
    ["bash(make deploy *)", "make ENV=a clean deploy", true],
    ["bash(make deploy)", "make -C a build deploy", true],
    ["bash(make deploy)", "make build", false],
    ["bash(make clean deploy)", "make deploy", false],
    ["bash(mvn deploy *)", "./mvnw -q clean deploy", true],
    ["bash(gradle publish *)", "gradle build publish", true],
    ["bash(cargo publish *)", "cargo +nightly publish", true],
    ["bash(cargo publish *)", "cargo install publish", false],
    ["bash(docker push *)", "docker image push a", true],
    ["bash(docker image push *)", "docker push a", true],
    ["bash(docker rm *)", "docker container rm a", true],
    ["bash(docker rm *)", "docker image rm a", false],
    ["bash(docker rm *)", "docker volume rm a", false],
    ["bash(yarn run deploy*)", "yarn deploy:all", true],
    ["bash(yarn deploy *)", "yarn run deploy", true],
    ["bash(yarn run *)", "yarn install", false],
    ["bash(yarn publish *)", "yarn run publish", false],
    ["bash(npm start *)", "npm run start", true],
    ["bash(npm run start *)", "npm start", true],
    ["bash(npm run deploy *)", "npm run build", false],
    ["bash(deno run --allow-all *)", "deno run -qA a.ts", true],
    ["bash(deno run -A *)", "deno run --allow-all a.ts", true],
    ["bash(deno run -A *)", "deno run -R a.ts", false],
    ["bash(git push --force *)", "git push origin +main", true],
    ["bash(git push -f *)", "git push origin +main:main", true],
    ["bash(git push --delete *)", "git push origin :main", true],
    ["bash(git push --force *)", "git push origin main", false],
    ["bash(git push --force *)", "git add +push", false],
  ];
  for (const [rule, command, expected] of cases) {
    assertEquals(await isDenied(rule, command), expected, `${rule} ${command}`);
  }
});
