"""What teams wrote against the second generation (2.4) of the known console: log in,
keep the cookie by its name, read bare lists, add, update, start, trigger, poll the log.

Usage: generation2.py BASE USER PASSWORD APPNAME. Prints "ok" when all was as expected.
"""

import http.client
import json
import sys
import time
import urllib.parse

base, user, password, app = sys.argv[1:5]
where = urllib.parse.urlsplit(base)
cookie = ""


def call(path, method="POST", **params):
    """One request as an HTTP library of a script makes it; redirects are not followed."""
    conn = http.client.HTTPConnection(where.netloc, timeout=20)
    query = urllib.parse.urlencode(params)
    target = where.path.rstrip("/") + path
    headers = {"Cookie": cookie} if cookie else {}
    body = None
    if method == "GET":
        target += "?" + query if query else ""
    else:
        body = query
        headers["Content-Type"] = "application/x-www-form-urlencoded; charset=UTF-8"
    conn.request(method, target, body, headers)
    answer = conn.getresponse()
    text = answer.read().decode("utf-8")
    return answer, text


def data(path, method="POST", **params):
    answer, text = call(path, method, **params)
    assert answer.status == 200, (path, answer.status, text[:300])
    return json.loads(text)


def ok(path, **params):
    reply = data(path, **params)
    assert reply["code"] == 200, (path, reply)
    assert reply["msg"] is None, reply
    return reply["content"]


# without a session: a redirect to the login page, which is how such scripts notice
answer, _ = call("/jobinfo/pageList", jobGroup=0, triggerStatus=-1, start=0, length=10)
assert answer.status == 302 and "/login" in answer.getheader("Location").lower(), answer.status

answer, text = call("/login", userName=user, password="not it", ifRemember="on")
assert json.loads(text)["code"] == 500, text

answer, text = call("/login", userName=user, password=password, ifRemember="on")
assert json.loads(text)["code"] == 200, text
for header in answer.headers.get_all("Set-Cookie"):
    if header.startswith("XXL_JOB_LOGIN_IDENTITY="):
        cookie = header.split(";")[0]
assert cookie, "no cookie under the known name"

# the executor, created when it is not there
groups = data("/jobgroup/pageList", appname=app, title="", start=0, length=10)
assert set(groups) == {"recordsTotal", "recordsFiltered", "data"}, groups
if groups["recordsTotal"] == 0:
    ok("/jobgroup/save", appname=app, title="Second generation", addressType=0, addressList="")
    groups = data("/jobgroup/pageList", appname=app, title="", start=0, length=10)
group = groups["data"][0]["id"]
assert groups["data"][0]["title"] == "Second generation"

job = dict(
    jobGroup=group, jobDesc="Second: nightly", author="team", alarmEmail="", scheduleType="CRON", scheduleConf="0 0 2 * * ?",
    cronGen_display="0 0 2 * * ?", schedule_conf_CRON="0 0 2 * * ?", schedule_conf_FIX_RATE="", schedule_conf_FIX_DELAY="",
    glueType="BEAN", executorHandler="demo.hello", executorParam="hello", executorRouteStrategy="FIRST", childJobId="",
    misfireStrategy="DO_NOTHING", executorBlockStrategy="SERIAL_EXECUTION", executorTimeout=0, executorFailRetryCount=0,
    glueRemark="", glueSource="",
)
new = ok("/jobinfo/add", **job)
assert isinstance(new, str) and int(new) > 0, new

jobs = data("/jobinfo/pageList", "GET", jobGroup=group, triggerStatus=-1, jobDesc="Second", executorHandler="", author="", start=0, length=1000)
assert jobs["recordsTotal"] == 1 and jobs["data"][0]["id"] == int(new), jobs
row = jobs["data"][0]
assert row["triggerStatus"] == 0 and row["jobDesc"] == job["jobDesc"] and row["addTime"].endswith("+00:00"), row

# what was read is sent back with a part changed
row.update(executorParam="changed", executorTimeout=30)
ok("/jobinfo/update", **{k: v for k, v in row.items() if v is not None})
ok("/jobinfo/start", id=new)
row = data("/jobinfo/pageList", jobGroup=group, triggerStatus=1, start=0, length=10)["data"][0]
assert row["executorParam"] == "changed" and row["executorTimeout"] == 30 and row["triggerStatus"] == 1 and row["triggerNextTime"] > time.time() * 1000, row
assert len(ok("/jobinfo/nextTriggerTime", scheduleType="CRON", scheduleConf="0 0 2 * * ?")) == 5

ok("/jobinfo/trigger", id=new, executorParam="by script", addressList="")
for _ in range(200):
    logs = data("/joblog/pageList", jobGroup=group, jobId=new, logStatus=-1, filterTime="2000-01-01 00:00:00 - 2099-12-31 23:59:59", start=0, length=10)
    assert set(logs) == {"recordsTotal", "recordsFiltered", "data"}, logs
    if logs["data"] and logs["data"][0]["handleCode"] != 0:
        break
    time.sleep(0.1)
run = logs["data"][0]
assert run["triggerCode"] == 200 and run["handleCode"] == 200 and run["executorParam"] == "by script" and run["jobId"] == int(new), run
assert data("/joblog/pageList", jobGroup=group, jobId=new, logStatus=1, filterTime="", start=0, length=10)["recordsTotal"] == 1
assert data("/joblog/pageList", jobGroup=group, jobId=new, logStatus=2, filterTime="", start=0, length=10)["recordsTotal"] == 0
log = ok("/joblog/logDetailCat", executorAddress=run["executorAddress"], triggerTime=0, logId=run["id"], fromLineNum=1)
assert "by script" in log["logContent"] and log["toLineNum"] >= 1 and log["end"] is True, log
assert [j["id"] for j in ok("/joblog/getJobsByGroup", jobGroup=group)] == [int(new)]

# what registers jobs by itself: running at once
second = ok("/jobinfo/add", **dict(job, jobDesc="Second: at once", triggerStatus=1))
assert data("/jobinfo/pageList", jobGroup=group, triggerStatus=1, jobDesc="at once", start=0, length=10)["data"][0]["triggerStatus"] == 1

# errors name what is wrong and change nothing
bad = data("/jobinfo/add", **dict(job, scheduleConf="0 61 0 * * ?"))
assert bad["code"] == 500 and "scheduleConf" in bad["msg"], bad
assert data("/jobinfo/trigger", id=999999, executorParam="", addressList="")["code"] == 500
assert data("/jobinfo/pageList", jobGroup=group, triggerStatus=-1, start=0, length=10)["recordsTotal"] == 2

# the chart of the dashboard
chart = ok("/chartInfo", startDate="2000-01-01 00:00:00", endDate="2099-12-31 23:59:59")
assert set(chart) == {"triggerDayList", "triggerDayCountRunningList", "triggerDayCountSucList", "triggerDayCountFailList",
                      "triggerCountRunningTotal", "triggerCountSucTotal", "triggerCountFailTotal"}, chart
assert len(chart["triggerDayList"]) == len(chart["triggerDayCountSucList"]) >= 1, chart
assert sum(chart["triggerDayCountSucList"]) == chart["triggerCountSucTotal"], chart
assert len(ok("/chartInfo", startDate="2001-01-01 00:00:00", endDate="2001-01-31 23:59:59")["triggerDayList"]) == 7
assert data("/chartInfo", startDate="yesterday", endDate="")["code"] == 500

# accounts
ok("/user/add", username="scripted", password="first secret", role=0, permission=group)
users = data("/user/pageList", username="scripted", role=-1, start=0, length=10)
assert users["recordsTotal"] == 1 and users["data"][0]["permission"] == str(group) and users["data"][0]["role"] == 0, users
person = users["data"][0]["id"]
assert not users["data"][0]["password"], users
assert data("/user/add", username="scripted", password="again and again", role=0)["code"] == 500
assert data("/user/update", id=person, username="scripted", password="", role=0, permission="4711")["code"] == 500
assert data("/user/update", id=person, username="other", password="", role=0, permission=group)["code"] == 500
ok("/user/update", id=person, username="scripted", password="second secret", role=1)
assert data("/user/pageList", username="", role=1, start=0, length=10)["recordsTotal"] == 2
admins, cookie = cookie, ""
answer, text = call("/login", userName="scripted", password="second secret")
cookie = next(h.split(";")[0] for h in answer.headers.get_all("Set-Cookie") if h.startswith("XXL_JOB_LOGIN_IDENTITY="))
assert data("/user/updatePwd", oldPassword="not it", password="third secret")["code"] == 500
ok("/user/updatePwd", oldPassword="second secret", password="third secret")
assert call("/jobinfo/pageList", jobGroup=0, triggerStatus=-1, start=0, length=10)[0].status == 302, "the old sessions end"
cookie = admins
ok("/user/remove", id=person)
assert data("/user/pageList", username="scripted", role=-1, start=0, length=10)["recordsTotal"] == 0

# the history of a job
assert data("/joblog/clearLog", jobGroup=group, jobId=new, type=10)["code"] == 500
assert data("/joblog/clearLog", jobGroup="", jobId="", type=9)["code"] == 500, "nobody said whose"
ok("/joblog/clearLog", jobGroup=group, jobId=new, type=1)
assert data("/joblog/pageList", jobGroup=group, jobId=new, logStatus=-1, filterTime="", start=0, length=10)["recordsTotal"] == 1
ok("/joblog/clearLog", jobGroup=group, jobId=new, type=9)
assert data("/joblog/pageList", jobGroup=group, jobId=new, logStatus=-1, filterTime="", start=0, length=10)["recordsTotal"] == 0

ok("/jobinfo/stop", id=new)
ok("/jobinfo/remove", id=new)
ok("/jobinfo/remove", id=second)
assert data("/jobinfo/pageList", jobGroup=group, triggerStatus=-1, start=0, length=10)["recordsTotal"] == 0
assert data("/jobgroup/loadById", id=group)["content"]["registryList"], "the executor registered"
ok("/jobgroup/remove", id=group)
assert call("/logout")[0].status == 200
assert call("/jobinfo/pageList", jobGroup=0, triggerStatus=-1, start=0, length=10)[0].status == 302, "the session goes on"
print("ok")
