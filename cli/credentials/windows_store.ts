/**
 * The credential manager of Windows, through PowerShell.
 *
 * @module
 */

import { describeFailure, runProgram } from "../host/run_program.ts";
import type { CredentialStore } from "./credential_store.ts";

/** PowerShell takes seconds to compile the script. */
const TIMEOUT_MS = 60_000;

/**
 * Creates a store in the credential manager of the user, as generic credentials `swink:PROVIDER`.
 *
 * @param program Name or path of PowerShell.
 */
export function createWindowsStore(program = "powershell.exe"): CredentialStore {
  // The key is passed on standard input.
  const run = async (action: "Read" | "Write" | "Delete", provider: string, key = "") => {
    const script = `${SCRIPT}\n[SwinkCredentials]::${action}('swink:${provider}')`;
    const args = [
      "-NoProfile",
      "-NonInteractive",
      "-EncodedCommand",
      encodeCommand(script),
    ] as const;
    const call = { command: [program, ...args], input: key, timeoutMs: TIMEOUT_MS } as const;
    const result = await runProgram(call);
    if (result.type === "ended" && result.code === 0) return result.output.trim();
    throw new Error(describeFailure(call, result));
  };
  return {
    name: "the credential manager",
    read: async (provider) => await run("Read", provider) || undefined,
    async write(provider, key) {
      await run("Write", provider, key);
    },
    async delete(provider) {
      await run("Delete", provider);
    },
  };
}

/** Encodes a script for `-EncodedCommand`: UTF-16LE in Base64. */
function encodeCommand(script: string): string {
  const bytes = Array.from(
    script,
    (character) =>
      String.fromCharCode(character.charCodeAt(0) & 0xff, character.charCodeAt(0) >> 8),
  );
  return btoa(bytes.join(""));
}

// The functions are those of wincred.h; 1168 is ERROR_NOT_FOUND.
const SCRIPT = `$ErrorActionPreference = 'Stop'
Add-Type -TypeDefinition @'
using System;
using System.ComponentModel;
using System.Runtime.InteropServices;
using System.Text;
public static class SwinkCredentials {
  [StructLayout(LayoutKind.Sequential, CharSet = CharSet.Unicode)]
  struct Credential {
    public uint Flags; public uint Type; public string TargetName; public string Comment;
    public System.Runtime.InteropServices.ComTypes.FILETIME LastWritten;
    public uint BlobSize; public IntPtr Blob; public uint Persist;
    public uint AttributeCount; public IntPtr Attributes; public string TargetAlias; public string UserName;
  }
  [DllImport("advapi32.dll", CharSet = CharSet.Unicode, SetLastError = true)]
  static extern bool CredWriteW(ref Credential credential, uint flags);
  [DllImport("advapi32.dll", CharSet = CharSet.Unicode, SetLastError = true)]
  static extern bool CredReadW(string target, uint type, uint flags, out IntPtr credential);
  [DllImport("advapi32.dll", CharSet = CharSet.Unicode, SetLastError = true)]
  static extern bool CredDeleteW(string target, uint type, uint flags);
  [DllImport("advapi32.dll")]
  static extern void CredFree(IntPtr credential);
  public static void Write(string target) {
    byte[] bytes = Encoding.UTF8.GetBytes(Console.In.ReadToEnd().Trim());
    IntPtr blob = Marshal.AllocHGlobal(bytes.Length);
    try {
      Marshal.Copy(bytes, 0, blob, bytes.Length);
      var credential = new Credential {
        Type = 1, TargetName = target, UserName = "swink", Persist = 2, BlobSize = (uint)bytes.Length, Blob = blob
      };
      if (!CredWriteW(ref credential, 0)) throw new Win32Exception(Marshal.GetLastWin32Error());
    } finally { Marshal.FreeHGlobal(blob); }
  }
  public static string Read(string target) {
    IntPtr pointer;
    if (!CredReadW(target, 1, 0, out pointer)) {
      int code = Marshal.GetLastWin32Error();
      if (code == 1168) return "";
      throw new Win32Exception(code);
    }
    try {
      var credential = (Credential)Marshal.PtrToStructure(pointer, typeof(Credential));
      byte[] bytes = new byte[credential.BlobSize];
      Marshal.Copy(credential.Blob, bytes, 0, bytes.Length);
      return Encoding.UTF8.GetString(bytes);
    } finally { CredFree(pointer); }
  }
  public static void Delete(string target) {
    if (CredDeleteW(target, 1, 0)) return;
    int code = Marshal.GetLastWin32Error();
    if (code != 1168) throw new Win32Exception(code);
  }
}
'@`;
