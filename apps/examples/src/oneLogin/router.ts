import type { DatabaseSync } from 'node:sqlite';
import { initTRPC, TRPCError } from '@trpc/server';
import type { GatewayMeta } from 'trpc-gateway/procedures';
import { z } from 'zod';
import type { Caller } from './auth.ts';

interface Context {
  readonly caller: Caller | undefined;
  readonly notes: NoteStore;
}

const Note = z.object({ id: z.int(), text: z.string(), author: z.string() }).meta({ id: 'Note' });
type Note = z.infer<typeof Note>;

/** The notes of all organizations. */
export class NoteStore {
  readonly #database: DatabaseSync;

  constructor(database: DatabaseSync) {
    this.#database = database;
    database.exec('CREATE TABLE IF NOT EXISTS note (id INTEGER PRIMARY KEY, organization, author, text)');
  }

  list(organization: string): Note[] {
    const sql = 'SELECT id, text, author FROM note WHERE organization = ? ORDER BY id';
    return z.array(Note).parse(this.#database.prepare(sql).all(organization));
  }

  add(organization: string, author: string, text: string): Note {
    const sql = 'INSERT INTO note (organization, author, text) VALUES (?, ?, ?)';
    const { lastInsertRowid } = this.#database.prepare(sql).run(organization, author, text);
    return { id: Number(lastInsertRowid), text, author };
  }
}

const t = initTRPC.context<Context>().meta<GatewayMeta>().create();

const member = t.procedure.use(({ ctx, next }) => {
  if (ctx.caller === undefined) throw new TRPCError({ code: 'UNAUTHORIZED' });
  return next({ ctx: { ...ctx, caller: ctx.caller } });
});

export const notesRouter = t.router({
  listNotes: member
    .meta({
      scopes: ['notes:read'],
      openapi: { method: 'GET', path: '/notes' },
      mcp: { description: 'Lists the notes of the organization.' },
    })
    .output(z.array(Note))
    .query(({ ctx: { notes, caller } }) => notes.list(caller.organizationId)),
  addNote: member
    .meta({
      scopes: ['notes:write'],
      openapi: { method: 'POST', path: '/notes', successStatus: 201 },
      mcp: { description: 'Adds a note, which all members of the organization can read.' },
    })
    .input(z.object({ text: z.string().min(1).max(1000) }))
    .output(Note)
    .mutation(({ ctx: { notes, caller }, input }) => notes.add(caller.organizationId, caller.id, input.text)),
});
export type NotesRouter = typeof notesRouter;
