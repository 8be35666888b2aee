import { assertEquals, assertRejects } from "@std/assert";
import { createTemporaryDirectory } from "../../tests/cli/temporary_directory.ts";
import { ConfigurationError } from "../host/cli_error.ts";
import type { CredentialStore } from "./credential_store.ts";
import { Credentials } from "./credentials.ts";

/** A keyring in memory; `failure` makes every call fail. */
class FakeKeyring implements CredentialStore {
  readonly name = "the keyring";
  readonly keys = new Map<string, string>();
  calls = 0;
  failure = "";
  isForgetful = false;

  async read(provider: string) {
    await this.#call();
    return this.keys.get(provider);
  }

  async write(provider: string, key: string) {
    await this.#call();
    if (!this.isForgetful) this.keys.set(provider, key);
  }

  async delete(provider: string) {
    await this.#call();
    this.keys.delete(provider);
  }

  #call(): Promise<void> {
    this.calls++;
    return this.failure === "" ? Promise.resolve() : Promise.reject(new Error(this.failure));
  }
}

/** Lists the saved keys with their places. */
function list(credentials: Credentials): string[] {
  return credentials.list().map(({ provider, store }) => `${provider}: ${store.name}`);
}

Deno.test("Credentials: keeps keys in the keyring, and asks it only for providers with a key", async () => {
  await using home = await createTemporaryDirectory();
  const keyring = new FakeKeyring();
  const credentials = new Credentials({ config: home.path, state: home.path }, keyring);
  assertEquals(await credentials.read("openai"), undefined);
  assertEquals([list(credentials), keyring.calls], [[], 0]);
  await credentials.save("openai", "k1");
  assertEquals(list(credentials), ["openai: the keyring"]);
  assertEquals(await credentials.read("openai"), "k1");
  assertEquals(await credentials.delete("openai"), true);
  assertEquals([keyring.keys.size, list(credentials)], [0, []]);
  assertEquals(await credentials.delete("openai"), false);
});

Deno.test("Credentials: keeps keys in files where the keyring fails, and says why", async () => {
  await using home = await createTemporaryDirectory();
  const keyring = new FakeKeyring();
  const credentials = new Credentials({ config: home.path, state: home.path }, keyring);
  const files = `${home.path}/credentials (files that only you can read)`;
  keyring.isForgetful = true;
  assertEquals((await credentials.save("a", "k")).keyringProblem, "it did not keep the key");
  keyring.failure = "locked";
  const result = await credentials.save("b", "k");
  assertEquals([result.store.name, result.keyringProblem], [files, "locked"]);
  assertEquals(list(credentials), [`a: ${files}`, `b: ${files}`]);
  assertEquals(await credentials.read("b"), "k");
});

Deno.test("Credentials: a key is only in the place that got the last one", async () => {
  await using home = await createTemporaryDirectory();
  const keyring = new FakeKeyring();
  const directories = { config: home.path, state: home.path };
  await new Credentials(directories, undefined).save("a", "file");
  const credentials = new Credentials(directories, keyring);
  await credentials.save("a", "keyring");
  assertEquals([await credentials.read("a"), list(credentials)], ["keyring", ["a: the keyring"]]);
  keyring.failure = "locked";
  await credentials.save("a", "file again");
  assertEquals([await credentials.read("a"), list(credentials).length], ["file again", 1]);
});

Deno.test("Credentials: a keyring that cannot be read is an error that says what to do", async () => {
  await using home = await createTemporaryDirectory();
  const keyring = new FakeKeyring();
  const credentials = new Credentials({ config: home.path, state: home.path }, keyring);
  await credentials.save("a", "k");
  keyring.failure = "locked";
  const error = await assertRejects(() => credentials.read("a"), ConfigurationError);
  assertEquals(error.message, "The key for a cannot be read from the keyring: locked");
  assertEquals(error.advice, "Save it again with: swink login a");
});

Deno.test("Credentials: a key in a keyring that is not available is not deleted, which is an error", async () => {
  await using home = await createTemporaryDirectory();
  const directories = { config: home.path, state: home.path };
  const keyring = new FakeKeyring();
  await new Credentials(directories, keyring).save("a", "k");
  await assertRejects(
    () => new Credentials(directories, undefined).delete("a"),
    ConfigurationError,
    "The key for a was not deleted: it is in a keyring that is not available here",
  );
  const isUnavailable = (provider: string, available?: CredentialStore) =>
    new Credentials(directories, available).isUnavailable(provider);
  assertEquals([isUnavailable("a"), isUnavailable("b"), isUnavailable("a", keyring)], [
    true,
    false,
    false,
  ]);
  assertEquals(list(new Credentials(directories, keyring)), ["a: the keyring"]);
});

Deno.test("Credentials: a directory that cannot be written is an error", async () => {
  await using home = await createTemporaryDirectory({ state: "a file" });
  const directories = { config: home.path, state: `${home.path}/state` };
  const credentials = new Credentials(directories, undefined);
  await assertRejects(
    () => credentials.save("a", "k"),
    ConfigurationError,
    "The key was not saved",
  );
  assertEquals(list(credentials), []);
});
