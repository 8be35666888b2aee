/** Content of a file, or the reason why it was not read, as a sentence fragment after the name of the file. */
export type UntrustedRead =
  | { readonly type: "content"; readonly bytes: Uint8Array }
  | { readonly type: "missing" }
  | { readonly type: "refused"; readonly reason: string };
