import { account, admin } from './account.ts';
import { attachments } from './attachments.ts';
import { reports, service, settings } from './reports.ts';
import * as resources from './resources.ts';
import { tickets } from './tickets.ts';
import { router } from './trpc.ts';

export const appRouter = router({
  ...resources,
  tickets,
  attachments,
  account,
  admin,
  reports,
  settings,
  service,
});
export type AppRouter = typeof appRouter;
