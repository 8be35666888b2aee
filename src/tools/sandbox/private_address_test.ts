import { assertEquals } from "@std/assert";
import { isPrivateAddress } from "./private_address.ts";

const PRIVATE = [
  "0.0.0.0",
  "10.1.2.3",
  "100.64.0.1",
  "127.0.0.1",
  "169.254.169.254",
  "172.16.0.1",
  "172.31.255.255",
  "192.168.1.1",
  "198.18.0.1",
  "224.0.0.1",
  "255.255.255.255",
  "::",
  "::1",
  "fe80::1%eth0",
  "fc00::1",
  "fd12::1",
  "ff02::1",
  "::ffff:10.0.0.1",
  "::ffff:a00:1",
  "64:ff9b::a00:1",
  "2002:a00:1::",
  "2001:db8::1",
  "2001::1",
  "not an address",
  "",
  "1.2.3",
  "256.1.1.1",
  "1::2::3",
  "12345::",
];

const PUBLIC = [
  "1.1.1.1",
  "93.184.215.14",
  "172.15.0.1",
  "172.32.0.1",
  "192.167.0.1",
  "2606:4700::1111",
  "[2a00::1]",
  "::ffff:8.8.8.8",
  "64:ff9b::808:808",
];

for (const address of PRIVATE) {
  Deno.test(`isPrivateAddress(): true for ${JSON.stringify(address)}`, () =>
    assertEquals(isPrivateAddress(address), true));
}

for (const address of PUBLIC) {
  Deno.test(`isPrivateAddress(): false for ${JSON.stringify(address)}`, () =>
    assertEquals(isPrivateAddress(address), false));
}
