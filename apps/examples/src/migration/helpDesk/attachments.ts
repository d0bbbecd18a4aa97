import { createHash } from 'node:crypto';
import { z } from 'zod';
import { zfd } from 'zod-form-data';
import { AppError } from './appError.ts';
import { Table } from './table.ts';
import { table as ticketTable } from './tickets.ts';
import { procedure, router } from './trpc.ts';

const table = new Table<{ ticket: number; name: string; size: number; sha256: string }>('attachment');

async function store(ticket: number, file: File) {
  ticketTable.get(ticket);
  const sha256 = createHash('sha256').update(await file.bytes());
  return table.add({ ticket, name: file.name, size: file.size, sha256: sha256.digest('hex') });
}

export const attachments = router({
  upload: procedure
    .input(zfd.formData({ ticket: zfd.numeric(), file: zfd.file(), names: zfd.repeatable() }))
    .mutation(async ({ input: { ticket, file, names } }) => ({ ...(await store(ticket, file)), names })),
  uploadMany: procedure.input(z.instanceof(FormData)).mutation(({ input: form }) => {
    const files = form.getAll('file').filter((value) => value instanceof File);
    if (files.length === 0) throw new AppError('CONFLICT', 'The form has no file.');
    return Promise.all(files.map((file) => store(Number(form.get('ticket')), file)));
  }),
  ofTicket: procedure
    .meta({ openapi: { method: 'GET', path: '/tickets/{ticket}/attachments', tags: ['attachments'] } })
    .input(z.object({ ticket: z.number() }))
    .output(z.array(z.object({ id: z.number(), name: z.string(), size: z.number(), sha256: z.string() })))
    .query(({ input: { ticket } }) => table.all().filter((one) => one.ticket === ticket)),
  remove: procedure.input(z.object({ id: z.number() })).mutation(({ input }) => table.remove(input.id)),
});
