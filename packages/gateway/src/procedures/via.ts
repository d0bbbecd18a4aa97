/** A client, as it describes itself: any client can send any name, so no rule may depend on it. */
export interface DeclaredClient {
  /** 1 to 256 characters, without control characters and lone surrogates: safe in a log. */
  readonly name: string;
  /** As `name`. `undefined` for a `User-Agent`, of which `name` has the whole text. */
  readonly version: string | undefined;
}

/** Through what a caller acts; `identity` is on whose behalf. The client is read when it is used. */
export interface Via {
  /** `mcp`: the caller is an agent. */
  readonly protocol: 'rest' | 'trpc' | 'mcp' | 'other';
  /** The name of the called tool; `undefined` over other protocols, and for an unknown tool. */
  readonly tool: string | undefined;
  /**
   * `clientInfo` of the message (MCP), otherwise the `User-Agent`. Before the revision 2026-07-28, only `initialize` has
   * `clientInfo`, and there are no sessions, so a call has the `User-Agent`.
   */
  readonly client: DeclaredClient | undefined;
  /** The OAuth client of the token that `jwt()` has verified: `client_id` (RFC 9068 §2.2), or `azp` (OpenID Connect Core §2). */
  readonly oauthClient: string | undefined;
}
