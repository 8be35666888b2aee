import { assertEquals, assertThrows } from "@std/assert";
import { BadRequestError } from "../../core/errors/errors.ts";
import { PROTECTED_FILES } from "../../platform/secret_places.ts";
import { createFileRules, type FileAccess } from "./file_rules.ts";

const rules = createFileRules({ write: ["/p"], read: ["/r"] }, PROTECTED_FILES);

const CASES: readonly (readonly [string, FileAccess, ReturnType<typeof rules>])[] = [
  ["/p", "read", "allowed"],
  ["/p/a/b", "write", "allowed"],
  ["/px", "read", "outside"],
  ["/", "read", "outside"],
  ["/r/a", "read", "allowed"],
  ["/r/a", "write", "outside"],
  ["/p/.env", "read", "protected"],
  ["/p/a/.ENV.local", "read", "protected"],
  ["/p/.env.example", "read", "allowed"],
  ["/p/environment.ts", "write", "allowed"],
  ["/p/x/.ssh/config", "read", "protected"],
  ["/p/certs/server.pem", "read", "protected"],
  ["/p/keys.ts", "read", "allowed"],
  ["/p/.git/hooks/pre-commit", "write", "protected"],
  ["/p/.git/hooks/pre-commit", "read", "allowed"],
  ["/p/sub/.git/config", "write", "protected"],
  ["/p/.git/config.worktree", "write", "protected"],
  ["/p/.git/modules/a/b/config", "write", "protected"],
  ["/p/.git/modules/a/hooks/x", "write", "protected"],
  ["/p/sub/.git", "write", "protected"],
  ["/p/.gitignore", "write", "allowed"],
];

for (const [path, access, verdict] of CASES) {
  Deno.test(`createFileRules(): ${access} of ${path} is ${verdict}`, () =>
    assertEquals(rules(path, access), verdict));
}

Deno.test("createFileRules(): a root that contains them has no secrets of the system, processes and devices", () => {
  const ofSystem = createFileRules({ write: ["/"], read: ["/dev/shm", "/run/secrets/mine"] }, []);
  const verdicts = [
    "/etc/shadow",
    "/etc/sudoers.d/a",
    "/proc/self/environ",
    "/sys/kernel/notes",
    "/dev/sda",
  ]
    .map((path) => ofSystem(path, "read"));
  assertEquals(verdicts, ["protected", "protected", "outside", "outside", "outside"]);
  assertEquals(
    ["/etc/passwd", "/procedure", "/etc/shadows"].map((path) => ofSystem(path, "read")),
    [
      "allowed",
      "allowed",
      "allowed",
    ],
  );
  const narrow = createFileRules({ write: ["/dev/shm"], read: ["/run/secrets/mine"] }, []);
  assertEquals(narrow("/dev/shm/a", "write"), "allowed");
  assertEquals(narrow("/run/secrets/mine/key", "read"), "allowed");
});

Deno.test("createFileRules(): custom globs replace the default ones, and the last match decides", () => {
  const custom = createFileRules({ write: ["/p"], read: [] }, [
    "*.secret",
    "!open.secret",
    "open.secret.*",
  ]);
  assertEquals(["/p/a.secret", "/p/open.secret", "/p/.env"].map((path) => custom(path, "read")), [
    "protected",
    "allowed",
    "allowed",
  ]);
});

Deno.test("createFileRules(): a glob for a directory protects all that is in it, and an absolute one its path", () => {
  const getVerdict = (globs: readonly string[], path: string) =>
    createFileRules({ write: ["/p"], read: ["/r"] }, globs)(path, "read");
  for (
    const glob of [
      "secret",
      "secret/",
      "./secret/",
      "secret/**",
      "/p/secret",
      "/p/secret/",
      "/p/s*",
    ]
  ) assertEquals(getVerdict([glob], "/p/secret/a/b"), "protected", glob);
  for (const glob of ["secret", "secret/"]) {
    assertEquals(getVerdict([glob], "/p/lib/secret/a"), "protected", glob);
  }
  assertEquals(getVerdict(["/r/secret"], "/r/secret"), "protected");
  for (const glob of ["secret/a", "lib/secret/", "/r/secret", "*.secret"]) {
    assertEquals(getVerdict([glob], "/p/secret/b"), "allowed", glob);
  }
  assertEquals(getVerdict(["secret", "!secret/open"], "/p/secret/open/a"), "allowed");
  assertEquals(getVerdict([...PROTECTED_FILES, "secret"], "/p/.env/lib/a.py"), "allowed");
  assertThrows(() => getVerdict(["~/secret"], "/p/a"), BadRequestError, "is not expanded");
  for (const glob of ["../secret", "!../a", "a/../b", "..", "/a/.."]) {
    assertThrows(() => getVerdict([glob], "/p/a"), BadRequestError, "is not resolved");
  }
});
