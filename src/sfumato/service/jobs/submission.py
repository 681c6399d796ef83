"""Accept a job: move its files into place and add it to the store, within the limits of owner and server."""

from http import HTTPStatus

from sfumato.service.http.problems import RefusedError
from sfumato.service.jobs.disk_space import no_space
from sfumato.service.jobs.folders import erase, size_of
from sfumato.service.jobs.pool import Pool
from sfumato.service.jobs.requests import JobRequest, store_request
from sfumato.service.store.jobs import Job, new_id


def submit(pool: Pool, request: JobRequest, owner: str, idempotency: str | None = None) -> Job:
    """Accept a job; the same request with the same idempotency key is the same job.

    Raises:
        RefusedError: Too many jobs wait, the owner exceeds a quota, or the key was used for another request.
    """
    check_room(pool, owner)
    job_id = new_id()
    draft = pool.folders.private("upload")
    try:
        fingerprint, size = store_request(request, draft), size_of(draft)
        _check_quota(pool, owner, size)
        draft.rename(pool.folder(job_id))
        if request.webhook is not None:
            pool.webhooks.add(job_id, request.webhook)
        job = pool.store.add(job_id, owner, request.kind, fingerprint, idempotency, size)
    except BaseException:
        erase(draft, pool.folder(job_id))
        pool.webhooks.drop(job_id)
        raise
    if job.id != job_id:
        erase(pool.folder(job_id))
        pool.webhooks.drop(job_id)
        if job.digest != fingerprint:
            what = "The idempotency key was used for another request."
            raise RefusedError(HTTPStatus.CONFLICT, "jobs.idempotency", what)
    pool.wake()
    return job


def check_room(pool: Pool, owner: str) -> None:
    """Refuse a job before its upload is read, if it could not be accepted.

    Raises:
        RefusedError: Too many jobs wait, or too many of this owner have not ended.
        OSError: The disk is nearly full.
    """
    if not pool.room.takes_jobs():
        raise no_space()
    if pool.store.counts()["queued"] >= pool.settings.waiting:
        raise _busy("limit.busy", "Too many jobs wait; try again later.")
    if owner and pool.store.use_of(owner)[0] >= pool.settings.user_jobs:
        raise _busy("limit.user-jobs", f"At most {pool.settings.user_jobs} jobs of one user wait or run; try later.")


def _check_quota(pool: Pool, owner: str, size: int) -> None:
    if owner and pool.store.use_of(owner)[1] + size > pool.settings.user_bytes:
        what = f"Your jobs and results take more than {pool.settings.user_bytes} bytes; erase some of them."
        raise RefusedError(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, "limit.quota", what)


def _busy(code: str, what: str) -> RefusedError:
    return RefusedError(HTTPStatus.TOO_MANY_REQUESTS, code, what, {"retry-after": "10"})
