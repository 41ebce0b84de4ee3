/** What plugins of other authors import, as `voice-service/plugin`. */

export {
  ignored,
  integer,
  list,
  requiredText,
  secretVariable,
  section,
  text,
} from '../config/section.ts';
export { invalidRequest, ServiceError } from '../contract/core/error.ts';
export { jsonResponse } from '../http/openapi/route-docs.ts';
export { route, strictBody } from '../http/route.ts';
export { modelReports, readyWithAnyModel } from '../kit/lifecycle/readiness.ts';
export { OpenRequests } from '../kit/limits/open-requests.ts';
export { definePlugin } from './define-plugin.ts';
