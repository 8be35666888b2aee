/**
 * The stores of keys, with programs that behave like those of the systems and record their arguments.
 *
 * @module
 */

import { assert, assertEquals, assertRejects } from "@std/assert";
import {
  createTemporaryDirectory,
  type TemporaryDirectory,
} from "../../tests/cli/temporary_directory.ts";
import type { CredentialStore } from "./credential_store.ts";
import { createFileStore } from "./file_store.ts";
import { createKeychainStore } from "./keychain_store.ts";
import { createSecretToolStore } from "./secret_tool_store.ts";
import { createWindowsStore } from "./windows_store.ts";

const KEY = "sk-canary-0123456789";

/** Begins a stand-in: it appends its arguments to `arguments`. */
const RECORD = '#!/bin/sh\ncd "$(dirname "$0")"\nprintf "%s\\n" "$@" >> arguments\n';

/** Behaves like `secret-tool` of libsecret 0.21. */
const SECRET_TOOL = `${RECORD}case "$1" in
  store) cat > "item-$6" ;;
  lookup) test -e "item-$5" || exit 1; cat "item-$5" ;;
  clear) rm -f "item-$5" ;;
esac
`;

/** Behaves like `security` of macOS: commands of -i come from standard input, passwords are printed with a line feed. */
const SECURITY = `${RECORD}case "$1" in
  -i) read -r line; set -- $line
    test "$1 $2 $3 $5 $7" = "add-generic-password -U -s -a -X" || exit 2
    printf "%s" "$8" | perl -pe 's/(..)/chr hex $1/ge' > "item-$6"; echo >> "item-$6" ;;
  find-generic-password) test -e "item-$5" || { echo "could not be found" >&2; exit 44; }; cat "item-$5" ;;
  delete-generic-password) test -e "item-$5" || exit 44; rm "item-$5" ;;
esac
`;

/** Calls the function of the script that PowerShell would call. */
const POWERSHELL = `${RECORD}script=$(printf "%s" "$4" | base64 -d | tr -d '\\000')
provider=$(printf "%s" "$script" | sed -n "s/.*swink:\\([a-z]*\\).*/\\1/p")
case "$script" in
  *::Write*) cat > "item-$provider" ;;
  *::Read*) test ! -e "item-$provider" || cat "item-$provider" ;;
  *::Delete*) rm -f "item-$provider" ;;
esac
`;

/** A store whose program is in a directory. */
interface Case {
  readonly name: string;
  readonly program: string;
  readonly create: (directory: TemporaryDirectory) => CredentialStore;
}

const CASES: readonly Case[] = [
  {
    name: "createSecretToolStore()",
    program: SECRET_TOOL,
    create: ({ path }) => createSecretToolStore(`${path}/program`),
  },
  {
    name: "createKeychainStore()",
    program: SECURITY,
    create: ({ path }) => createKeychainStore(`${path}/program`),
  },
  {
    name: "createWindowsStore()",
    program: POWERSHELL,
    create: ({ path }) => createWindowsStore(`${path}/program`),
  },
  {
    name: "createFileStore()",
    program: "",
    create: ({ path }) => createFileStore({ config: path, state: path }),
  },
];

for (const { name, program, create } of CASES) {
  Deno.test(`${name}: keeps, replaces and deletes keys, and passes none as an argument`, async () => {
    await using directory = await createTemporaryDirectory();
    directory.write("program", program, 0o755);
    directory.write("arguments", "");
    const store = create(directory);
    assertEquals(await store.read("openai"), undefined);
    await store.write("openai", "sk-canary-old");
    await store.write("openai", KEY);
    await store.write("anthropic", "sk-canary-other");
    assertEquals(await store.read("openai"), KEY);
    await store.delete("openai");
    await store.delete("openai");
    assertEquals(await store.read("openai"), undefined);
    assertEquals(await store.read("anthropic"), "sk-canary-other");
    const recorded = directory.read("arguments");
    assertEquals([recorded.includes("canary"), recorded === ""], [false, program === ""]);
    const decoded = recorded.split("\n").filter((argument) => argument.length > 100).map(decode);
    assert(decoded.every((text) => !text.includes("canary")), decoded[0]);
  });
}

function decode(argument: string): string {
  return atob(argument).replaceAll("\0", "");
}

for (const { name, program, create } of CASES) {
  if (program === "") continue;
  Deno.test(`${name}: reports a missing program, and why one failed`, async () => {
    await using directory = await createTemporaryDirectory();
    const store = create(directory);
    await assertRejects(() => store.read("openai"), Error, "program is not installed");
    directory.write("program", '#!/bin/sh\necho "the keyring is locked" >&2\nexit 5\n', 0o755);
    const calls = [() => store.read("a"), () => store.write("a", KEY), () => store.delete("a")];
    for (const call of calls) {
      const error = await assertRejects(call, Error);
      assert(error.message.endsWith("program failed with exit code 5: the keyring is locked"));
    }
  });
}

Deno.test("createFileStore(): only the user can read the files", async () => {
  await using directory = await createTemporaryDirectory();
  const store = createFileStore({ config: directory.path, state: `${directory.path}/state` });
  await store.write("openai", KEY);
  const path = `${directory.path}/state/credentials`;
  assertEquals(((await Deno.stat(path)).mode ?? 0) & 0o777, 0o700);
  assertEquals(((await Deno.stat(`${path}/openai.key`)).mode ?? 0) & 0o777, 0o600);
  assertEquals([...Deno.readDirSync(path)].map(({ name }) => name), ["openai.key"]);
});

Deno.test("createFileStore(): a key that cannot be saved leaves no file", async () => {
  await using directory = await createTemporaryDirectory({ "swink/credentials/lab.key/x": "" });
  const state = `${directory.path}/swink`;
  const store = createFileStore({ config: state, state });
  await assertRejects(() => store.write("lab", KEY));
  const names = Array.from(Deno.readDirSync(`${state}/credentials`), ({ name }) => name);
  assertEquals(names, ["lab.key"]);
});

Deno.test("createSecretToolStore(): a keyring that cannot be read is an error, not a missing key", async () => {
  await using directory = await createTemporaryDirectory();
  directory.write("program", "#!/bin/sh\necho 'the keyring is locked' >&2; exit 1\n", 0o755);
  const store = createSecretToolStore(`${directory.path}/program`);
  await assertRejects(() => store.read("openai"), Error, "the keyring is locked");
});
